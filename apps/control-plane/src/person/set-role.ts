import { Role } from "@helm/contracts";
import { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import type { Call } from "../context";
import { changePerson, lockPerson, requireAnotherAdmin, requireSessionForAdmins } from "./guards";
import { readPerson } from "./schema";

export const SetRoleInput = z.object({ id: z.uuid(), role: Role, revision: z.number().int() });

/** Holds from the next request on, also for sessions and tokens that are open. */
export async function setRole({ ctx, input }: Call<z.infer<typeof SetRoleInput>>) {
  const before = await lockPerson(ctx, input.id);
  requireSessionForAdmins(ctx, input.role);
  requireSessionForAdmins(ctx, before.role);
  if (input.role !== "admin") await requireAnotherAdmin(ctx, before);
  await changePerson(ctx, before, input.revision, { role: input.role });
  const after = await readPerson(ctx, input.id);
  await writeAudit(ctx, {
    verb: "person.setRole",
    entity: "person",
    entityId: after.id,
    before: { email: before.email, role: before.role, revision: before.revision },
    after: { email: after.email, role: after.role, revision: after.revision },
  });
  // Sockets are asked who they are anew.
  ctx.afterCommit(() => ctx.services.hub.cutPerson(after.id));
  return after;
}
