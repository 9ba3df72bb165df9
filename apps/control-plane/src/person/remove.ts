import { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import { endSessions } from "../auth/end-sessions";
import type { Call } from "../context";
import { changePerson, lockPerson, requireAnotherAdmin, requireSessionForAdmins } from "./guards";

export const RemovePersonInput = z.object({ id: z.uuid(), revision: z.number().int() });
export const RemovePersonOutput = z.object({ id: z.uuid() });

/** With sessions, tokens and invitations. What the person did stays in the audit, under the e-mail address. */
export async function removePerson({ ctx, input }: Call<z.infer<typeof RemovePersonInput>>) {
  const person = await lockPerson(ctx, input.id);
  requireSessionForAdmins(ctx, person.role);
  await requireAnotherAdmin(ctx, person);
  await changePerson(ctx, person, input.revision, {});
  await endSessions(ctx, person.id);
  await ctx.db.user.delete({ where: { id: person.id } });
  await writeAudit(ctx, {
    verb: "person.remove",
    entity: "person",
    entityId: person.id,
    before: { email: person.email, name: person.name, role: person.role },
  });
  return { id: person.id };
}
