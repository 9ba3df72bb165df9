import type { IncomingMessage } from "node:http";
import { HelmError } from "@helm/contracts";
import { addressBlock } from "../access/address-block";
import { countTry, type Limit } from "../access/rate-limit";
import type { Services } from "../context";

const BODY_BYTES = 16 * 1024;
const ANY: Limit = { max: 120, windowMs: 60_000 };
const SIGN_IN: Limit = { max: 20, windowMs: 60_000 };

/**
 * What is open of better-auth. Its other routes would make accounts, sessions and tokens past our roles and our audit:
 * for those there are verbs of our own.
 */
export const SIGN_IN_PATH = "/sign-in/email";
export const AUTH_ROUTES: ReadonlySet<string> = new Set([`POST ${SIGN_IN_PATH}`, "POST /sign-out"]);

/** Lets through what is open, of a bounded size and so often. Errors: NOT_FOUND, BAD_REQUEST, RATE_LIMITED. */
export async function guardAuthDoor(
  { db, config }: Services,
  req: IncomingMessage,
  pathname: string,
  address: string,
): Promise<void> {
  const route = `${req.method ?? "GET"} ${pathname.slice("/api/auth".length)}`;
  if (!AUTH_ROUTES.has(route)) throw new HelmError("NOT_FOUND", "There is nothing at this address.");
  // A body of unstated length would be read to its end, however long it is.
  const unstated = req.headers["transfer-encoding"] !== undefined;
  if (unstated || Number(req.headers["content-length"] ?? 0) > BODY_BYTES)
    throw new HelmError("BAD_REQUEST", "The body is too large.");
  if (!config.authRateLimit) return;
  const from = addressBlock(address);
  await countTry(db, `auth:${from}`, ANY);
  if (route === `POST ${SIGN_IN_PATH}`) await countTry(db, `sign-in:${from}`, SIGN_IN);
}
