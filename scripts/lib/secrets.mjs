import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Secrets of this installation, made once and kept where only the owner can read them. */
export function ensureSecrets(stateDir) {
  const file = join(stateDir, "secrets.json");
  const known = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  const secrets = {
    authSecret: known.authSecret ?? randomBytes(32).toString("base64url"),
    consoleSecret: known.consoleSecret ?? randomBytes(32).toString("base64url"),
    setupToken: known.setupToken ?? randomBytes(18).toString("base64url"),
  };
  if (JSON.stringify(secrets) !== JSON.stringify(known)) {
    writeFileSync(file, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  }
  return secrets;
}

/** One-use tokens for the hosts that have not joined yet, as [kind, token] pairs. */
export function joinTokensFor(hosts) {
  return Object.fromEntries(hosts.map((kind) => [kind, randomBytes(24).toString("base64url")]));
}
