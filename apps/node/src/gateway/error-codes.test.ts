import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { GATEWAY_ERRORS } from "@helm/contracts";
import { expect, it } from "vitest";

const HERE = new URL(".", import.meta.url).pathname;
const sources = readdirSync(HERE, { recursive: true, encoding: "utf8" })
  .filter((file) => /\.ts$/.test(file) && !/\.test\.ts$/.test(file))
  .map((file) => readFileSync(join(HERE, file), "utf8"));

/** "429 tenant_quota" of every error that is written out in the gateway's source. */
const written = sources.flatMap((source) =>
  [...source.matchAll(/new GatewayError\(\s*(\d{3}),\s*"([a-z_]+)"/g)].map(
    ([, status, code]) => `${status} ${code}`,
  ),
);

it("every error that the gateway writes is among those that docs/reason-codes.md is made from", () => {
  expect(written.length).toBeGreaterThan(8);
  const known = Object.entries(GATEWAY_ERRORS).map(([code, [status]]) => `${status} ${code}`);
  expect([...new Set(written)].filter((one) => !known.includes(one))).toEqual([]);
});
