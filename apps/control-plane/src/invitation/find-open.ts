import { HelmError } from "@helm/contracts";
import { hashSecret } from "../access/secret";
import type { Context } from "../context";

/** The invitation behind a link that still opens. Errors: TOKEN_INVALID. */
export async function findOpenInvitation(ctx: Context, token: string) {
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
