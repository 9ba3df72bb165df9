import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** Hex sha256: enough for secrets of 128 random bits or more, which is all that is stored so. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret, "utf8").digest("hex");
}

export function randomSecret(bytes = 32): string {
  return randomBytes(bytes).toString("base64url");
}

/** Compares without telling by time where the two differ. */
export function secretsEqual(a: string, b: string): boolean {
  const left = createHash("sha256").update(a, "utf8").digest();
  const right = createHash("sha256").update(b, "utf8").digest();
  return timingSafeEqual(left, right);
}
