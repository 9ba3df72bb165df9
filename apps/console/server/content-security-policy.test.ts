import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, it } from "vitest";
import { contentSecurityPolicy, SONNER_STYLE_SHA256 } from "./content-security-policy";

it("allows the toasts' style sheet by the digest of the installed version", () => {
  const source = readFileSync(createRequire(import.meta.url).resolve("sonner"), "utf8");
  const literal = /__insertCSS\(("(?:[^"\\]|\\.)*")\)/.exec(source)?.[1];
  const digest = createHash("sha256")
    .update(JSON.parse(literal ?? '""'))
    .digest("base64");
  expect(SONNER_STYLE_SHA256).toBe(digest);
});

it("lets production run no script without the nonce", () => {
  const policy = contentSecurityPolicy("abc", false);
  expect(policy).toContain("script-src 'self' 'nonce-abc' 'strict-dynamic';");
  expect(policy).not.toContain("unsafe-eval");
});
