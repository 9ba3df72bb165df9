import { HelmError, type Role } from "@helm/contracts";
import type { Context } from "../context";
import { actingPerson } from "./acting-person";
import { requireRole } from "./scopes";

/** A long request is judged again before it changes anything: its person, and what he came by, may be gone by then. */
export async function requireStillActing(ctx: Context, role: Role): Promise<void> {
  const { id, sessionId, tokenId } = actingPerson(ctx);
  const person = await ctx.db.user.findUnique({ where: { id }, select: { role: true, disabledAt: true } });
  const way = tokenId
    ? await ctx.db.personalToken.findFirst({ where: { id: tokenId, revokedAt: null, enabled: true } })
    : await ctx.db.session.findUnique({ where: { id: sessionId ?? id } });
  if (!person || person.disabledAt || !way)
    throw new HelmError(
      "UNAUTHENTICATED",
      "Your access ended while the request was on its way. Sign in again.",
    );
  requireRole({ ...actingPerson(ctx), role: person.role }, role);
}
