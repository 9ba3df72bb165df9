import { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import { endSessions } from "../auth/end-sessions";
import type { Call } from "../context";
import { changePerson, lockPerson, requireAnotherAdmin, requireSessionForAdmins } from "./guards";
import { readPerson } from "./schema";

export const SetDisabledInput = z.object({ id: z.uuid(), disabled: z.boolean(), revision: z.number().int() });

/** Ends the sessions; tokens open nothing until the person is enabled again. */
export async function setDisabled({ ctx, input }: Call<z.infer<typeof SetDisabledInput>>) {
  const before = await lockPerson(ctx, input.id);
  requireSessionForAdmins(ctx, before.role);
  if (input.disabled) await requireAnotherAdmin(ctx, before);
  const disabledAt = input.disabled ? (before.disabledAt ?? new Date()) : null;
  await changePerson(ctx, before, input.revision, { disabledAt });
  const sessionsEnded = await endSessions(ctx, before.id);
  const after = await readPerson(ctx, before.id);
  await writeAudit(ctx, {
    verb: "person.setDisabled",
    entity: "person",
    entityId: after.id,
    before: { email: before.email, disabled: before.disabledAt !== null, revision: before.revision },
    after: { email: after.email, disabled: input.disabled, revision: after.revision, sessionsEnded },
  });
  return after;
}
