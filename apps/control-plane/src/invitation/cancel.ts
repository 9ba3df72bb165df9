import { HelmError } from "@helm/contracts";
import { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import type { Call } from "../context";
import { requireSessionForAdmins } from "../person/guards";

export const CancelInvitationInput = z.object({ id: z.uuid() });
export const CancelInvitationOutput = z.object({ id: z.uuid() });

/** The link opens nothing from here on; the person stays, without a password. */
export async function cancelInvitation({ ctx, input }: Call<z.infer<typeof CancelInvitationInput>>) {
  const found = await ctx.db.invitation.findUnique({ where: { id: input.id }, include: { user: true } });
  if (!found) throw new HelmError("NOT_FOUND", "There is no such invitation.");
  requireSessionForAdmins(ctx, found.user.role);
  const cancelled = await ctx.db.invitation.updateMany({
    where: { id: found.id, usedAt: null, cancelledAt: null },
    data: { cancelledAt: new Date() },
  });
  if (cancelled.count !== 1)
    throw new HelmError("CONFLICT", "This invitation is used or cancelled already. Nothing was changed.");
  await writeAudit(ctx, {
    verb: "invitation.cancel",
    entity: "invitation",
    entityId: found.id,
    after: { email: found.user.email },
  });
  return { id: found.id };
}
