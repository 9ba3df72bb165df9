import { defaultKeyHasher } from "@better-auth/api-key";
import { TOKEN_PREFIX } from "@helm/contracts";
import { randomSecret } from "../access/secret";

/** Letters of the secret part that stay readable, to tell tokens apart. */
const SHOWN = 6;

/** A new token: the whole text, shown once, and what is kept of it. */
export async function makeToken(): Promise<{ token: string; start: string; digest: string }> {
  const token = `${TOKEN_PREFIX}${randomSecret(32)}`;
  return { token, start: token.slice(0, TOKEN_PREFIX.length + SHOWN), digest: await tokenDigest(token) };
}

/** sha256, as the plugin looks tokens up: enough for 256 random bits. */
export function tokenDigest(token: string): Promise<string> {
  return defaultKeyHasher(token);
}
