import { createHash } from "node:crypto";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NodeOrders } from "@helm/contracts";
import pino from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { accessOf, makeSigner, snapshotOf } from "../testing/signing";
import { Configuration } from "./configuration";
import { DocumentStore } from "./document-store";

const signer = makeSigner();
const log = pino({ level: "silent" });
const key = "hlm_abcdefgh_0123456789012345678901234567890123456789";
const keyRow = {
  hash: createHash("sha256").update(key).digest("hex"),
  prefix: "hlm_abcdefgh",
  tenant_id: "t1",
  expires_at: null,
};
const tenants = [{ id: "t1", name: "demo", enabled: true }];

let folder: string;
let now: Date;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "helm-config-"));
  now = new Date();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = () =>
  new Configuration(
    new DocumentStore(folder),
    { signingKey: signer.publicKey, nodeId: "n1" },
    log,
    () => now,
  );

describe("accepting documents", () => {
  it("uses a newer snapshot, and acknowledges it once more when it comes again", async () => {
    const configuration = open();
    const document = signer.sign(snapshotOf(3));
    expect(await configuration.accept("snapshot", document)).toEqual({
      ok: true,
      generation: 3,
      sha256: document.sha256,
    });
    expect((await configuration.accept("snapshot", document)).ok).toBe(true);
    expect(configuration.snapshot?.generation).toBe(3);
  });

  it("refuses what is forged, torn, older or another kind, and keeps what it has", async () => {
    const configuration = open();
    await configuration.accept("snapshot", signer.sign(snapshotOf(3)));
    const torn = { ...signer.sign(snapshotOf(4)), document: JSON.stringify(snapshotOf(5)) };
    const bad = [
      makeSigner().sign(snapshotOf(4)),
      torn,
      signer.sign(snapshotOf(2)),
      signer.sign(accessOf(9)),
    ];
    for (const document of bad) {
      const ack = await configuration.accept("snapshot", document);
      expect(ack).toMatchObject({ ok: false, kept_generation: 3, reason: expect.any(String) });
    }
    expect(configuration.snapshot?.generation).toBe(3);
    expect(await readdir(folder)).toEqual(["snapshot-3.json"]);
  });

  it("keeps the newest few on disk", async () => {
    const configuration = open();
    for (const generation of [1, 2, 3, 4, 10]) {
      await configuration.accept("snapshot", signer.sign(snapshotOf(generation)));
    }
    expect((await readdir(folder)).sort()).toEqual([
      "snapshot-10.json",
      "snapshot-3.json",
      "snapshot-4.json",
    ]);
  });
});

describe("starting without a control plane", () => {
  it("serves from the last-known-good documents", async () => {
    const before = open();
    await before.accept("snapshot", signer.sign(snapshotOf(7)));
    await before.accept("access-list", signer.sign(accessOf(2, { keys: [keyRow], tenants })));
    const after = open();
    expect(after.configured).toBe(false);
    await after.restore();
    expect(after.snapshot?.generation).toBe(7);
    expect(after.authenticate(`Bearer ${key}`)?.id).toBe("t1");
    expect(after.helmOff).toBe(false);
  });

  it("passes over a damaged or foreign file to an older one that is genuine", async () => {
    await open().accept("snapshot", signer.sign(snapshotOf(7)));
    await writeFile(join(folder, "snapshot-8.json"), "{ torn");
    await writeFile(join(folder, "snapshot-9.json"), JSON.stringify(makeSigner().sign(snapshotOf(9))));
    const configuration = open();
    await configuration.restore();
    expect(configuration.snapshot?.generation).toBe(7);
    expect(configuration.remarks).toEqual([
      expect.stringMatching(
        /^snapshot-9\.json is not used \(.*signature.*\), snapshot-8\.json is not used .*; generation 7 serves instead\.$/,
      ),
    ]);
    // What was damaged here comes again from the control plane, under the same number.
    expect((await configuration.accept("snapshot", signer.sign(snapshotOf(8)))).ok).toBe(true);
  });

  it("keeps the previous ones, whatever becomes of a newer one while it is written", async () => {
    const configuration = open();
    for (const generation of [5, 6, 7]) {
      await configuration.accept("snapshot", signer.sign(snapshotOf(generation)));
    }
    await writeFile(join(folder, ".0123.part"), JSON.stringify(signer.sign(snapshotOf(8))).slice(0, 80));
    await writeFile(join(folder, "snapshot-7.json"), "");
    const after = open();
    await after.restore();
    expect(after.snapshot?.generation).toBe(6);
  });

  it("goes back to no older access list: it may know a key that was revoked", async () => {
    const before = open();
    await before.accept("access-list", signer.sign(accessOf(4, { keys: [keyRow], tenants })));
    await before.accept("access-list", signer.sign(accessOf(5, { keys: [], tenants })));
    await writeFile(join(folder, "access-list-5.json"), "{ torn");
    const after = open();
    await after.restore();
    expect(after.configured).toBe(false);
    expect(after.authenticate(`Bearer ${key}`)).toBeNull();
    expect(after.remarks[0]).toMatch(/access-list-5\.json is not used .* has to send it again/);
    const replayed = await after.accept("access-list", signer.sign(accessOf(4, { keys: [keyRow], tenants })));
    expect(replayed).toMatchObject({ ok: false, reason: expect.stringContaining("older than 5") });
    expect(after.authenticate(`Bearer ${key}`)).toBeNull();
    expect((await after.accept("access-list", signer.sign(accessOf(5, { keys: [], tenants })))).ok).toBe(
      true,
    );
  });

  it("goes by the age that the list has by then: Helm off after a day, no key after a week", async () => {
    const before = open();
    await before.accept("snapshot", signer.sign(snapshotOf(1)));
    await before.accept("access-list", signer.sign(accessOf(1, { keys: [keyRow], tenants })));
    const start = now.getTime();
    const later = async (hours: number) => {
      now = new Date(start + hours * 3_600_000);
      const after = open();
      await after.restore();
      return [after.snapshot?.generation, after.helmOff, after.authenticate(`Bearer ${key}`)?.id];
    };
    expect(await later(23.9)).toEqual([1, false, "t1"]);
    expect(await later(24.1)).toEqual([1, true, "t1"]);
    expect(await later(7 * 24 - 0.1)).toEqual([1, true, "t1"]);
    expect(await later(7 * 24 + 0.1)).toEqual([1, true, undefined]);
  });
});

describe("orders", () => {
  const ordersOf = (revision: number, over: Partial<NodeOrders> = {}): NodeOrders => ({
    kind: "node_orders",
    schema: 1,
    node_id: "n1",
    revision,
    drain: true,
    canary: 0,
    ...over,
  });

  it("are kept for the next life", async () => {
    await open().accept("orders", signer.sign(ordersOf(2)));
    const after = open();
    await after.restore();
    expect(after.orders).toMatchObject({ revision: 2, drain: true });
  });

  it("of another node, of an older number or of nobody are not obeyed", async () => {
    const configuration = open();
    await configuration.accept("orders", signer.sign(ordersOf(2)));
    for (const document of [
      signer.sign(ordersOf(3, { node_id: "n2", drain: false })),
      signer.sign(ordersOf(1, { drain: false })),
      makeSigner().sign(ordersOf(3, { drain: false })),
      signer.sign(snapshotOf(9)),
    ]) {
      expect(await configuration.accept("orders", document)).toMatchObject({ ok: false, kept_generation: 2 });
    }
    expect(configuration.orders).toMatchObject({ revision: 2, drain: true });
  });
});

describe("the access list", () => {
  const list = (over = {}) => signer.sign(accessOf(1, { keys: [keyRow], tenants, ...over }));

  it("turns Helm off, and later refuses keys, as it grows old", async () => {
    const configuration = open();
    await configuration.accept("snapshot", signer.sign(snapshotOf(1)));
    await configuration.accept("access-list", list());
    const start = now.getTime();
    now = new Date(start + 86_300_000);
    expect(configuration.helmOff).toBe(false);
    now = new Date(start + 86_500_000);
    expect(configuration.helmOff).toBe(true);
    expect(configuration.authenticate(`Bearer ${key}`)).not.toBeNull();
    now = new Date(start + 605_000_000);
    expect(configuration.authenticate(`Bearer ${key}`)).toBeNull();
  });

  it("carries the kill switch", async () => {
    const configuration = open();
    await configuration.accept("snapshot", signer.sign(snapshotOf(1)));
    await configuration.accept("access-list", list());
    expect(configuration.helmOff).toBe(false);
    await configuration.accept("access-list", signer.sign(accessOf(2, { kill_switch: true })));
    expect(configuration.helmOff).toBe(true);
  });

  it("knows no expired key, and none whose hash merely shares the prefix", async () => {
    const configuration = open();
    const expired = { ...keyRow, expires_at: new Date(now.getTime() + 1_000).toISOString() };
    await configuration.accept("access-list", list({ keys: [expired] }));
    expect(configuration.authenticate(`Bearer ${key}`)?.id).toBe("t1");
    expect(configuration.authenticate(`Bearer ${key.slice(0, -1)}x`)).toBeNull();
    now = new Date(now.getTime() + 2_000);
    expect(configuration.authenticate(`Bearer ${key}`)).toBeNull();
  });
});
