import type { Context } from "../context";

/**
 * Of models and of routes, which share their names. Before anything is looked at: the second of two who bring one name at one
 * moment is told of the first. Always in one order: a pair and its reverse would wait for each other.
 */
export async function lockNames(ctx: Context, names: string[]): Promise<void> {
  for (const name of [...new Set(names)].sort())
    await ctx.db.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`inspect:${name}`}, 0))`;
}
