import { HelmError } from "@helm/contracts";
import { z } from "zod";
import { actingPerson } from "../access/acting-person";
import { writeAudit } from "../audit/write-audit";
import { endSessions } from "../auth/end-sessions";
import { holdWaysIn } from "../auth/hold-ways-in";
import { NewPassword, passwordIs, setPassword } from "../auth/password";
import type { Call } from "../context";

export const ChangePasswordInput = z.object({ current: z.string().max(200), next: NewPassword });
export const ChangePasswordOutput = z.object({ sessionsEnded: z.number().int() });

/** Ends every other session: who knew the old password is out. */
export async function changePassword({ ctx, input }: Call<z.infer<typeof ChangePasswordInput>>) {
  const actor = actingPerson(ctx);
  await holdWaysIn(ctx, actor.id);
  if (!(await passwordIs(ctx, actor.id, input.current)))
    throw new HelmError("BAD_REQUEST", "The current password is not this one. Nothing was changed.");
  if (input.next === input.current)
    throw new HelmError("BAD_REQUEST", "This is the password you have. Choose another one.");
  await setPassword(ctx, actor.id, input.next);
  const sessionsEnded = await endSessions(ctx, actor.id, actor.sessionId);
  await writeAudit(ctx, {
    verb: "account.changePassword",
    entity: "person",
    entityId: actor.id,
    after: { email: actor.email, sessionsEnded },
  });
  return { sessionsEnded };
}
