import type { Context } from "../context";

/**
 * Until the transaction ends nobody else gives this person a way in or takes all of them away: a password or a token that
 * is made while they are being taken would stay. Whoever does one of the two comes through here first, and looks then.
 */
export async function holdWaysIn(ctx: Pick<Context, "db">, userId: string): Promise<void> {
  await ctx.db.$executeRaw`SELECT 1 FROM "user" WHERE "id" = ${userId}::uuid FOR NO KEY UPDATE`;
}
