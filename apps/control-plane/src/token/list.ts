import { z } from "zod";
import { actingPerson } from "../access/acting-person";
import type { Context } from "../context";

export const TokenOut = z.object({
  id: z.uuid(),
  name: z.string(),
  /** How it begins; the rest is kept as a digest. */
  start: z.string(),
  person: z.object({ id: z.uuid(), email: z.string() }),
  createdAt: z.date(),
  expiresAt: z.date().nullable(),
  lastUsedAt: z.date().nullable(),
  revokedAt: z.date().nullable(),
  /** LIVE, or why it opens nothing. */
  state: z.enum(["LIVE", "EXPIRED", "REVOKED", "PERSON_DISABLED"]),
});
export type TokenOut = z.infer<typeof TokenOut>;

const MOST = 1_000;

async function listTokens(ctx: Context, where: { referenceId?: string; id?: string }): Promise<TokenOut[]> {
  const rows = await ctx.db.personalToken.findMany({
    where,
    omit: { key: true },
    include: { user: { select: { id: true, email: true, disabledAt: true } } },
    orderBy: { createdAt: "desc" },
    take: MOST,
  });
  const now = new Date();
  return rows.map((row) => ({
    id: row.id,
    name: row.name ?? "",
    start: row.start ?? "",
    person: { id: row.user.id, email: row.user.email },
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    lastUsedAt: row.lastRequest,
    revokedAt: row.revokedAt,
    state: row.revokedAt
      ? "REVOKED"
      : row.expiresAt && row.expiresAt <= now
        ? "EXPIRED"
        : row.user.disabledAt
          ? "PERSON_DISABLED"
          : "LIVE",
  }));
}

export function listOwnTokens(ctx: Context): Promise<TokenOut[]> {
  return listTokens(ctx, { referenceId: actingPerson(ctx).id });
}

export function listAllTokens(ctx: Context): Promise<TokenOut[]> {
  return listTokens(ctx, {});
}
