import type { Db } from "@helm/db";
import { countTry, type Limit, requireRoom } from "../access/rate-limit";
import { hashSecret } from "../access/secret";

/** Failures against one account, from wherever they come. Successes do not count. */
const FAILURES: Limit = { max: 30, windowMs: 15 * 60_000 };

/** By digest: the field may hold anything that somebody typed, a password too. */
const keyOf = (email: string) => `sign-in-as:${hashSecret(email)}`;

/** Errors: RATE_LIMITED, with how long. */
export async function requireFewFailures(db: Db, email: string): Promise<void> {
  await requireRoom(db, keyOf(email), FAILURES);
}

export async function countFailedSignIn(db: Db, email: string): Promise<void> {
  await countTry(db, keyOf(email), FAILURES).catch(() => {});
}
