import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { expect, it, onTestFinished } from "vitest";
import { StatsCollector } from "../gateway/counters/stats";
import { accessOf, makeSigner, snapshotOf } from "../testing/signing";
import { Configuration } from "./configuration";
import { DocumentStore } from "./document-store";
import { KeyUse } from "./key-use";

const key = "hlm_abcdefgh_0123456789012345678901234567890123456789";
const row = {
  hash: createHash("sha256").update(key).digest("hex"),
  prefix: "hlm_abcdefgh",
  tenant_id: "t1",
  expires_at: null,
};
const tenants = [{ id: "t1", name: "demo", enabled: true }];

async function open() {
  const folder = await mkdtemp(join(tmpdir(), "helm-keys-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const clock = { now: new Date("2026-11-30T12:00:00Z") };
  const signer = makeSigner();
  const use = new KeyUse();
  const configuration = new Configuration(
    new DocumentStore(folder),
    { signingKey: signer.publicKey, nodeId: "n1" },
    pino({ level: "silent" }),
    () => clock.now,
    use,
  );
  const issued_at = clock.now.toISOString();
  const list = (version: number, keys: (typeof row)[]) =>
    configuration.accept("access-list", signer.sign(accessOf(version, { issued_at, keys, tenants })));
  return { clock, signer, configuration, list, stats: new StatsCollector(() => clock.now, use) };
}

it("reports the newest use of each accepted key once, by prefix, and no use of a refused one", async () => {
  const { clock, configuration, list, stats } = await open();
  await list(1, [row]);
  expect(stats.report()).toBeNull();
  expect(configuration.authenticate(`Bearer ${key}x`)).toBeNull();
  expect(stats.report()).toBeNull();
  for (let n = 0; n < 3; n += 1) {
    clock.now = new Date(clock.now.getTime() + 1_000);
    expect(configuration.authenticate(`Bearer ${key}`)?.id).toBe("t1");
  }
  const report = stats.report();
  expect(report).toMatchObject({
    rows: [],
    keys: [{ prefix: row.prefix, last_used_at: "2026-11-30T12:00:03.000Z" }],
  });
  expect(JSON.stringify(report)).not.toContain(row.hash);
  expect(stats.report()).toEqual(report);
  if (report) stats.sent(report);
  expect(stats.report()).toBeNull();
});

it("refuses a revoked key from its access list on, whatever mappers a snapshot still waits for", async () => {
  const { signer, configuration, list } = await open();
  await list(1, [row]);
  const pair = {
    id: "p",
    pilot: "pilot",
    target: "target",
    mapper_sha256: "a".repeat(64),
    mapper_bytes: 1,
    refusal: null,
    development: true,
    pilot_weights_sha256: null,
    target_weights_sha256: null,
  };
  // Nobody ever brings this mapper.
  await configuration.accept("snapshot", signer.sign(snapshotOf(2, { pairs: [pair] })));
  expect(configuration.authenticate(`Bearer ${key}`)?.id).toBe("t1");
  // Were it to wait for that, it would do so for ever.
  expect((await list(2, [])).ok).toBe(true);
  expect(configuration.authenticate(`Bearer ${key}`)).toBeNull();
});
