import type { Context } from "../context";
import { addressBlock } from "./address-block";
import { countTry, type Limit } from "./rate-limit";
import { SCOPES } from "./scopes";

const MINUTE = 60_000;
const PUBLIC: Limit = { max: 30, windowMs: MINUTE };
const PUBLIC_BY_PATH: Record<string, Limit> = {
  "setup.createAdministrator": { max: 10, windowMs: MINUTE },
};
/** What a signed-in person may try only so often: whoever holds a session must not find out its password. */
const OWN: Record<string, Limit> = { "account.changePassword": { max: 10, windowMs: MINUTE } };

/**
 * Counts a change that may be tried only so often: one that is open without an account by the caller's address, one's own
 * by the person. Tries that fail count too. Called outside of any transaction: a refused try must stay counted, and none may
 * hold a connection while it waits for another. Errors: RATE_LIMITED.
 */
export async function countBoundedTry(ctx: Context, path: string): Promise<void> {
  const { db } = ctx.services;
  if (SCOPES[path] === "public")
    await countTry(db, `public:${path}:${addressBlock(ctx.address)}`, PUBLIC_BY_PATH[path] ?? PUBLIC);
  const own = OWN[path];
  if (own && ctx.actor.kind === "person") await countTry(db, `own:${path}:${ctx.actor.id}`, own);
}
