import { HelmError } from "@helm/contracts";
import { countTry } from "../access/rate-limit";
import { hashSecret } from "../access/secret";
import type { Context } from "../context";

/** The invitation behind a link that still opens. Errors: TOKEN_INVALID, RATE_LIMITED. */
export async function findOpenInvitation(ctx: Context, token: string) {
  // Outside of any transaction: a refused try must stay counted.
  await countTry(ctx.services.db, `invitation:${ctx.address}`, { max: 30, windowMs: 60_000 });
  const found = await ctx.db.invitation.findUnique({
    where: { hash: hashSecret(token) },
    include: { user: true },
  });
  if (found && !found.usedAt && !found.cancelledAt && found.expiresAt > new Date() && !found.user.disabledAt)
    return found;
  throw closedInvitation();
}

export function closedInvitation(): HelmError {
  return new HelmError(
    "TOKEN_INVALID",
    "This link is used, expired or cancelled. Ask an administrator for a new one.",
  );
}
