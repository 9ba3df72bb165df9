import { z } from "zod";
import type { PersonActor } from "../access/actor";
import { writeAudit } from "../audit/write-audit";
import { holdWaysIn } from "../auth/hold-ways-in";
import { NewPassword, setPassword } from "../auth/password";
import type { Call } from "../context";
import { closedInvitation, findOpenInvitation } from "./find-open";

export const AcceptInvitationInput = z.object({ token: z.string().max(200), password: NewPassword });
export const AcceptInvitationOutput = z.object({ email: z.string() });

/** Gives the person a password. Of two that race with one link, one finds it open. */
export async function acceptInvitation({ ctx, input }: Call<z.infer<typeof AcceptInvitationInput>>) {
  const found = await findOpenInvitation(ctx, input.token);
  await holdWaysIn(ctx, found.userId);
  const { id, user } = await findOpenInvitation(ctx, input.token);
  const used = await ctx.db.invitation.updateMany({
    where: { id, usedAt: null, cancelledAt: null },
    data: { usedAt: new Date() },
  });
  if (used.count !== 1) throw closedInvitation();
  await setPassword(ctx, user.id, input.password);
  const actor: PersonActor = {
    kind: "person",
    id: user.id,
    name: user.name,
    email: user.email,
    role: user.role,
    sessionId: null,
  };
  await writeAudit(
    { ...ctx, actor },
    { verb: "invitation.accept", entity: "invitation", entityId: id, after: { email: user.email } },
  );
  return { email: user.email };
}
