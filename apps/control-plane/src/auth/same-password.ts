import { HelmError } from "@helm/contracts";
import type { Db } from "@helm/db";
import { z } from "zod";
import { holdWaysIn } from "./hold-ways-in";

type Known = { userId: string; password: string | null } | null;

const SignedIn = z.object({ token: z.string() });

/** The digest that a password given for this address is looked at with. */
export function passwordOf(db: Pick<Db, "account">, email: string): Promise<Known> {
  const where = { providerId: "credential", user: { email } };
  return db.account.findFirst({ where, select: { userId: true, password: true } });
}

/**
 * Who changes a password ends the sessions that there are. One that the library opens with the old password right after
 * that is ended here: it looks at the password first and writes its session later. Errors: UNAUTHENTICATED.
 */
export async function requireSamePassword(db: Db, before: Known, answer: Response): Promise<void> {
  if (!before) return;
  const { token } = SignedIn.parse(await answer.json());
  const same = await db.$transaction(async (tx) => {
    await holdWaysIn({ db: tx }, before.userId);
    const now = await tx.account.findFirst({ where: { userId: before.userId, providerId: "credential" } });
    if (now?.password === before.password) return true;
    await tx.session.deleteMany({ where: { token } });
    return false;
  });
  if (same) return;
  throw new HelmError(
    "UNAUTHENTICATED",
    "The password was changed while you signed in with the old one. Sign in with the new one.",
  );
}
