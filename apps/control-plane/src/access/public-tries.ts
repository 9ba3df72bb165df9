import type { Context } from "../context";
import { addressBlock } from "./address-block";
import { countTry, type Limit } from "./rate-limit";

const USUAL: Limit = { max: 30, windowMs: 60_000 };
const LIMITS: Record<string, Limit> = { "setup.createAdministrator": { max: 10, windowMs: 60_000 } };

/**
 * A change that is open without an account, by the caller's address; tries that fail count too. Called outside of any
 * transaction: a refused try must stay counted, and must hold no connection while it waits to be. Errors: RATE_LIMITED.
 */
export async function countPublicTry(ctx: Context, path: string): Promise<void> {
  await countTry(ctx.services.db, `public:${path}:${addressBlock(ctx.address)}`, LIMITS[path] ?? USUAL);
}
