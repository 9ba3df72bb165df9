import { actorName } from "../access/actor";
import { hashSecret, randomSecret } from "../access/secret";
import type { Context } from "../context";

const HOURS = 72;

/** A link for one use; what was open before it is closed. The secret stands behind the #, which no server is sent. */
export async function openInvitation(
  ctx: Context,
  userId: string,
): Promise<{ link: string; expiresAt: Date }> {
  await ctx.db.invitation.updateMany({
    where: { userId, usedAt: null, cancelledAt: null },
    data: { cancelledAt: new Date() },
  });
  const token = `invite_${randomSecret(24)}`;
  const { expiresAt } = await ctx.db.invitation.create({
    data: {
      userId,
      hash: hashSecret(token),
      createdBy: actorName(ctx.actor),
      expiresAt: new Date(Date.now() + HOURS * 3_600_000),
    },
  });
  ctx.touched.add("invitation");
  return { link: `${ctx.services.config.publicUrl}/welcome#${token}`, expiresAt };
}
