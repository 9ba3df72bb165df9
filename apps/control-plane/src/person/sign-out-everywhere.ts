import { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import { endSessions } from "../auth/end-sessions";
import type { Call } from "../context";
import { lockPerson, requireSessionForAdmins } from "./guards";

export const SignOutEverywhereInput = z.object({ id: z.uuid() });
export const SignOutEverywhereOutput = z.object({ sessionsEnded: z.number().int() });

/** Sessions with their sockets; the password and the tokens stay. */
export async function signOutEverywhere({ ctx, input }: Call<z.infer<typeof SignOutEverywhereInput>>) {
  const person = await lockPerson(ctx, input.id);
  requireSessionForAdmins(ctx, person.role);
  const sessionsEnded = await endSessions(ctx, person.id);
  await writeAudit(ctx, {
    verb: "person.signOutEverywhere",
    entity: "person",
    entityId: person.id,
    after: { email: person.email, sessionsEnded },
  });
  return { sessionsEnded };
}
