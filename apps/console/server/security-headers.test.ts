import { expect, it } from "vitest";
import { contentSecurityPolicy } from "./content-security-policy";
import { securityHeaders } from "./security-headers";

it("lets no page of ours be framed, sniffed or opened across origins", () => {
  expect(securityHeaders("http:")).toMatchObject({
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
  });
});

it("asks for TLS from then on only where the browser came by it", () => {
  expect(securityHeaders("http:")).not.toHaveProperty("strict-transport-security");
  expect(securityHeaders("https:")).toHaveProperty("strict-transport-security");
});

it("names no host and no scheme but data and blob for pictures, in production and in development", () => {
  for (const development of [false, true]) {
    const policy = contentSecurityPolicy("abc", development);
    for (const part of policy.split("; ")) {
      const [name = "", ...sources] = part.split(" ");
      const open = sources.filter((source) => !source.startsWith("'"));
      expect([name, open]).toEqual([name, name === "img-src" ? ["data:", "blob:"] : []]);
      expect(part).not.toContain("*");
    }
    for (const needed of [
      "object-src 'none'",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
    ])
      expect(policy.split("; ")).toContain(needed);
    expect(policy).not.toMatch(/script-src[^;]*unsafe-inline/);
  }
});
