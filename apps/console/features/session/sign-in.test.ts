import { afterEach, expect, it, vi } from "vitest";
import { safeNext, signIn } from "./sign-in";

afterEach(() => vi.unstubAllGlobals());

/** A double of the server: it answers every request with this. */
const answering = (status: number, headers: Record<string, string> = {}) =>
  vi.stubGlobal("fetch", async () => new Response("{}", { status, headers }));

it("says how long to wait, in words", async () => {
  answering(429, { "retry-after": "875" });
  expect(await signIn("a@example.org", "x")).toBe("Too many attempts. Wait 14 min 35 s and try again.");
});

it("tells a wrong password from a server that is away", async () => {
  answering(401);
  expect(await signIn("a@example.org", "x")).toMatch(/do not belong together/);
  answering(503);
  expect(await signIn("a@example.org", "x")).toMatch(/does not answer/);
  answering(200);
  expect(await signIn("a@example.org", "x")).toBeNull();
});

it.each([
  ["/tenants?search=a", "/tenants?search=a"],
  ["//evil.example", "/"],
  ["/\\evil.example", "/"],
  ["https://evil.example", "/"],
  [null, "/"],
])("returns to %s as %s", (next, to) => {
  expect(safeNext(next, "/")).toBe(to);
});
