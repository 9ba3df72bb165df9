import { z } from "zod";

export const KeyState = z.enum(["VALID", "EXPIRES_SOON", "EXPIRED", "REVOKED"]);
export type KeyState = z.infer<typeof KeyState>;

const SOON_MS = 7 * 86_400_000;

/** What a tenant's API key is worth at a moment; a key that was revoked stays so, whatever its expiry says. */
export function keyStateOf(key: { expiresAt: Date | null; revokedAt: Date | null }, now: Date): KeyState {
  if (key.revokedAt !== null) return "REVOKED";
  if (key.expiresAt === null) return "VALID";
  const left = key.expiresAt.getTime() - now.getTime();
  return left <= 0 ? "EXPIRED" : left <= SOON_MS ? "EXPIRES_SOON" : "VALID";
}
