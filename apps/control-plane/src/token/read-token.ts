import { HelmError } from "@helm/contracts";
import type { Actor } from "../access/actor";
import { addressBlock } from "../access/address-block";
import { countTry, type Limit } from "../access/rate-limit";
import type { Auth } from "../auth/auth";
import type { Services } from "../context";
import { tokenDigest } from "./token-text";

const USE: Limit = { max: 1_200, windowMs: 60_000 };
const MISSES: Limit = { max: 60, windowMs: 60_000 };

/** The person behind a personal token, with the role as it is now. What is refused says why. */
export async function readToken(
  services: Services,
  auth: Auth,
  token: string,
  address: string,
): Promise<Actor> {
  const { db, config } = services;
  const row = await db.personalToken.findUnique({
    where: { key: await tokenDigest(token) },
    include: { user: true },
  });
  const over = row?.expiresAt && row.expiresAt <= new Date();
  try {
    if (!row || row.revokedAt || !row.enabled || over || row.user.disabledAt) {
      if (config.authRateLimit) await countTry(db, `token-miss:${addressBlock(address)}`, MISSES);
      throw unusable();
    }
    if (config.authRateLimit) await countTry(db, `token:${row.id}`, USE);
    // The plugin's own look notes the use, and has the last word.
    const { valid } = await auth.api.verifyApiKey({ body: { key: token } });
    if (!valid) throw unusable();
  } catch (thrown) {
    if (thrown instanceof HelmError) return { kind: "anonymous", refused: thrown };
    throw thrown;
  }
  const { id, name, email, role } = row.user;
  return { kind: "person", id, name, email, role, sessionId: null, tokenId: row.id };
}

function unusable(): HelmError {
  return new HelmError(
    "UNAUTHENTICATED",
    "This personal token is unknown, expired or revoked, or its person is disabled. Create a new one on the Account page.",
  );
}
