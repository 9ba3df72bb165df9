import { HelmError } from "@helm/contracts";
import { z } from "zod";
import type { PersonActor } from "../access/actor";
import { hashSecret, secretsEqual } from "../access/secret";
import { writeAudit } from "../audit/write-audit";
import { NewPassword, setPassword } from "../auth/password";
import type { Call, Context } from "../context";

export const CreateAdministratorInput = z.object({
  token: z.string().max(200),
  email: z.email().max(200),
  name: z.string().trim().min(1).max(100),
  password: NewPassword,
});
export const CreateAdministratorOutput = z.object({ id: z.uuid(), email: z.string() });

const SETUP_LOCK = 7_210_116_012;

export async function setupIsOpen(ctx: Context): Promise<boolean> {
  return (await ctx.db.user.findFirst({ where: { role: "admin" }, select: { id: true } })) === null;
}

/** The first administrator, by the token that the start command printed; closed for good once there is one. */
export async function createAdministrator({ ctx, input }: Call<z.infer<typeof CreateAdministratorInput>>) {
  await ctx.db.$executeRaw`SELECT pg_advisory_xact_lock(${SETUP_LOCK}::bigint)`;
  if (!(await setupIsOpen(ctx)))
    throw new HelmError("SETUP_CLOSED", "There is an administrator already. Sign in.");
  // Of whichever control plane printed it.
  const hash = hashSecret(input.token);
  const known = await ctx.db.setupToken.findUnique({ where: { hash } });
  if (!known || !secretsEqual(known.hash, hash)) {
    throw new HelmError("TOKEN_INVALID", "This is not the setup token. The start command printed it.");
  }
  const user = await ctx.db.user.create({
    data: { email: input.email.toLowerCase(), name: input.name, role: "admin", emailVerified: true },
  });
  await setPassword(ctx, user.id, input.password);
  await ctx.db.setupToken.deleteMany();
  // Who came with the setup token is this person from now on.
  const { id, name, email, role } = user;
  const actor: PersonActor = { kind: "person", id, name, email, role, sessionId: null };
  await writeAudit(
    { ...ctx, actor },
    { verb: "setup.createAdministrator", entity: "user", entityId: id, after: { email, role } },
  );
  return { id: user.id, email: user.email };
}
