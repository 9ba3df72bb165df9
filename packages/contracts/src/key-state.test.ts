import { expect, it } from "vitest";
import { keyStateOf } from "./key-state";

const now = new Date("2026-11-30T12:00:00Z");
const at = (days: number) => new Date(now.getTime() + days * 86_400_000);

it("tells the four states of a key apart, revoked above all", () => {
  expect(keyStateOf({ expiresAt: null, revokedAt: null }, now)).toBe("VALID");
  expect(keyStateOf({ expiresAt: at(7.01), revokedAt: null }, now)).toBe("VALID");
  expect(keyStateOf({ expiresAt: at(7), revokedAt: null }, now)).toBe("EXPIRES_SOON");
  expect(keyStateOf({ expiresAt: now, revokedAt: null }, now)).toBe("EXPIRED");
  expect(keyStateOf({ expiresAt: at(30), revokedAt: at(-1) }, now)).toBe("REVOKED");
});
