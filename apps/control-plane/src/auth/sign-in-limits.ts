import type { Db } from "@helm/db";
import { addressBlock } from "../access/address-block";
import { countTry, giveBack, type Limit, type Try } from "../access/rate-limit";

/** Wrong passwords for one account, from one place; a browser that was signed in from counts as a place of its own. */
const FROM_ONE: Limit = { max: 10, windowMs: 15 * 60_000 };
/** And from all places that are new to it. */
const FROM_NEW: Limit = { max: 30, windowMs: 15 * 60_000 };

/**
 * Taken before the password is looked at, so that tries at one time are bounded like tries in a row; what turns out to
 * be no failure is given back. Errors: RATE_LIMITED, with how long.
 */
export async function takeSignInTries(
  db: Db,
  { account, device, address }: { account: string; device: string | null; address: string },
): Promise<Try[]> {
  if (device) return [await countTry(db, `sign-in-as:${account}:device:${device}`, FROM_ONE)];
  const here = await countTry(db, `sign-in-as:${account}:${addressBlock(address)}`, FROM_ONE);
  try {
    return [here, await countTry(db, `sign-in-as:${account}`, FROM_NEW)];
  } catch (error) {
    await giveBack(db, [here]);
    throw error;
  }
}
