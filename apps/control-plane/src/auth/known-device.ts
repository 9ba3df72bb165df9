import { createHmac, hkdfSync } from "node:crypto";
import { randomSecret, secretsEqual } from "../access/secret";
import type { Config } from "../config";

const DAYS = 180;
const WORTH_MS = DAYS * 86_400_000;

type Keys = Pick<Config, "authSecret" | "secureCookies">;

/**
 * A browser that somebody signed in from, for one account (`account` is its digest). It opens nothing: wrong passwords
 * from it are counted by themselves, so that strangers' tries do not shut out who comes from there.
 */
export function deviceCookie(keys: Keys, account: string, now = Date.now()): string {
  const body = `${now.toString(36)}.${randomSecret(16)}`;
  const value = `${body}.${sign(keys, account, body)}`;
  const secure = keys.secureCookies ? "; Secure" : "";
  return `${nameFor(keys, account)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${DAYS * 86_400}${secure}`;
}

/** The device's own id, or null where this is none that this account was signed in from. */
export function knownDevice(
  keys: Keys,
  account: string,
  cookies: string | null,
  now = Date.now(),
): string | null {
  const name = nameFor(keys, account);
  for (const part of (cookies ?? "").split(";")) {
    const [key, value = ""] = part.trim().split("=", 2);
    if (key !== name) continue;
    const [made = "", id = "", mac = ""] = value.split(".");
    const since = Number.parseInt(made, 36);
    if (!secretsEqual(mac, sign(keys, account, `${made}.${id}`))) continue;
    if (since <= now && now - since < WORTH_MS) return id;
  }
  return null;
}

/** A cookie for each account: people share browsers. */
function nameFor({ secureCookies }: Keys, account: string): string {
  return `${secureCookies ? "__Host-" : ""}helm.device-${account.slice(0, 16)}`;
}

function sign({ authSecret }: Keys, account: string, body: string): string {
  const key = hkdfSync("sha256", authSecret, "", "helm known device", 32);
  return createHmac("sha256", Buffer.from(key)).update(`${account}.${body}`).digest("base64url");
}
