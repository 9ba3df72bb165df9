import { HelmError, type Role } from "@helm/contracts";
import { holdWaysIn } from "../auth/hold-ways-in";
import { withPassword } from "../auth/password";
import type { Context } from "../context";

const PEOPLE_LOCK = 7_210_116_013;

/** The person to be changed. The lock comes first: two requests that each leave the other's administrator would leave
 * none between them. */
export async function lockPerson(ctx: Context, id: string) {
  await ctx.db.$executeRaw`SELECT pg_advisory_xact_lock(${PEOPLE_LOCK}::bigint)`;
  await holdWaysIn(ctx, id);
  const person = await ctx.db.user.findUnique({ where: { id } });
  if (!person) throw new HelmError("NOT_FOUND", "There is no such person.");
  return person;
}

/** Someone must be left who can sign in and do everything. Call it with the lock held. */
export async function requireAnotherAdmin(ctx: Context, person: { id: string; role: Role }): Promise<void> {
  if (person.role !== "admin") return;
  const others = await ctx.db.user.count({
    where: { id: { not: person.id }, role: "admin", disabledAt: null, accounts: withPassword },
  });
  if (others > 0) return;
  throw new HelmError(
    "LAST_ADMIN",
    "This is the last administrator who can sign in. Make another person an administrator first.",
  );
}

/** A stolen token must not reach administrators: not make one, and not shut those out who would revoke it. */
export function requireSessionForAdmins(ctx: Context, role: Role): void {
  if (role !== "admin" || ctx.actor.kind !== "person" || !ctx.actor.tokenId) return;
  throw new HelmError(
    "FORBIDDEN",
    "A personal token cannot make administrators or change them. Sign in with the password for that, in the console or with lifeboat login URL.",
  );
}

/** Errors: CONFLICT with what is there now. */
export async function changePerson(
  ctx: Context,
  person: { id: string; email: string; role: Role; disabledAt: Date | null; revision: number },
  revision: number,
  data: { role?: Role; disabledAt?: Date | null },
): Promise<void> {
  const changed = await ctx.db.user.updateMany({
    where: { id: person.id, revision },
    data: { ...data, revision: { increment: 1 } },
  });
  if (changed.count > 0) return;
  throw new HelmError("CONFLICT", `Someone else changed ${person.email} meanwhile. Look again.`, {
    revision: person.revision,
    role: person.role,
    disabled: person.disabledAt !== null,
  });
}
