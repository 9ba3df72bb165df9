import { HelmError, Role } from "@helm/contracts";
import { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import type { Call } from "../context";
import { openInvitation } from "../invitation/open";
import { readPerson } from "./schema";

export const CreatePersonInput = z.object({
  email: z
    .email()
    .max(200)
    .transform((email) => email.toLowerCase()),
  name: z.string().trim().min(1).max(100),
  role: Role,
});

/** Without a password: the link lets the person choose one. There is no e-mail, so an administrator hands it on. */
export async function createPerson({ ctx, input }: Call<z.infer<typeof CreatePersonInput>>) {
  if (await ctx.db.user.findUnique({ where: { email: input.email } }))
    throw new HelmError("CONFLICT", `There is a person ${input.email} already.`);
  const { id } = await ctx.db.user.create({ data: input });
  const { link, expiresAt } = await openInvitation(ctx, id);
  await writeAudit(ctx, {
    verb: "person.create",
    entity: "person",
    entityId: id,
    after: { email: input.email, name: input.name, role: input.role, expiresAt: expiresAt.toISOString() },
  });
  return { person: await readPerson(ctx, id), link, expiresAt };
}
