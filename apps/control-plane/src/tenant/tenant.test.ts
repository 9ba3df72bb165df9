import { AccessList } from "@helm/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { conflictFrom } from "../testing/conflict-from";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { joinWorker, registerPair } from "../testing/worker";

let control: TestControlPlane;
beforeAll(async () => {
  control = await testControlPlane();
});
afterAll(() => control.stop());

const told = async () =>
  AccessList.parse(
    JSON.parse(
      (await control.db.accessListVersion.findFirstOrThrow({ orderBy: { version: "desc" } })).document,
    ),
  );
const minute = (at: Date) => Math.floor(at.getTime() / 60_000);
let bucket = 0;
/** As a node's report leaves it. */
const count = (tenantId: string) =>
  control.db.requestStat.create({
    data: {
      bucket: new Date(Date.UTC(2026, 0, 1, 0, bucket++)),
      nodeId: "n",
      tenantId,
      pairId: "",
      decision: "explicit",
      reason: "",
      transfer: "none",
      requests: 1n,
      tokensMoved: 0n,
      firstTokenMsSum: 0,
    },
  });

describe("a tenant's overrides", () => {
  it("reach nodes through the access list, and null takes them back", async () => {
    const admin = control.as("admin");
    const tenant = await admin.tenant.create({ name: "acme" });
    const stored = await admin.tenant.update({
      id: tenant.id,
      streaming: "buffer",
      window: 8,
      meanLogprob: -0.05,
      minLogprob: 0,
      transferOff: true,
      maxConcurrent: 2,
      revision: tenant.revision,
    });
    expect((await told()).tenants.find(({ id }) => id === tenant.id)).toEqual({
      id: tenant.id,
      name: "acme",
      enabled: false,
      streaming: "buffer",
      window: 8,
      mean_logprob: -0.05,
      min_logprob: 0,
      transfer_off: true,
      max_concurrent: 2,
      trace_text_until: null,
    });
    await admin.tenant.update({
      id: tenant.id,
      streaming: null,
      maxConcurrent: null,
      revision: stored.revision,
    });
    expect((await told()).tenants.find(({ id }) => id === tenant.id)).toMatchObject({
      streaming: null,
      window: 8,
      max_concurrent: null,
    });
    await expect(
      admin.tenant.update({ id: tenant.id, meanLogprob: 1, revision: stored.revision + 1 }),
    ).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });

  it("are shown with whose word each value is", async () => {
    const admin = control.as("admin");
    const worker = await joinWorker(control);
    await registerPair(control, worker, "pilot", "target");
    const [tenant] = await admin.tenant.list({ search: "acme" });
    const { helm, routes } = await control.as("viewer").tenant.effective({ id: tenant?.id ?? "" });
    expect(helm).toMatchObject({ on: false, from: "fleet" });
    expect(routes).toMatchObject([{ name: "helm-auto", refusal: "NOT_CALIBRATED" }]);
    const by = Object.fromEntries(
      routes[0]?.settings.map(({ name, value, from }) => [name, [value, from]]) ?? [],
    );
    expect(by).toMatchObject({
      "mean log-probability": ["-0.05", "tenant"],
      "least log-probability": ["0", "tenant"],
      streaming: ["window", "route"],
      window: ["8", "tenant"],
      transfer: ["off", "tenant"],
      "hold turns": ["never down", "route"],
      "requests at a time on a node": ["no limit", "fleet"],
    });
    const { revision } = await admin.setting.get();
    await admin.setting.setHelmEnabled({ enabled: true, revision });
    expect((await admin.tenant.effective({ id: tenant?.id ?? "" })).helm).toMatchObject({
      on: false,
      from: "tenant",
    });
  });
});

describe("tenants", () => {
  it("are found by name, switch, overrides and keys", async () => {
    const admin = control.as("admin");
    const beta = await admin.tenant.create({ name: "beta" });
    await admin.tenant.setEnabled({ id: beta.id, enabled: true, revision: 1 });
    await admin.key.create({ tenantId: beta.id, name: "ci" });
    const names = async (filter: Parameters<typeof admin.tenant.list>[0]) =>
      (await admin.tenant.list(filter)).map(({ name }) => name);
    expect(await names({ search: "ET" })).toEqual(["beta"]);
    expect(await names({ helm: "excluded" })).toEqual(["acme"]);
    expect(await names({ overrides: "some" })).toEqual(["acme"]);
    expect(await names({ overrides: "none" })).toEqual(["beta"]);
    expect(await names({ keys: "live" })).toEqual(["beta"]);
    expect(await names({ archived: true })).toEqual([]);
  });

  it("keep id, keys and counts through a rename, and no two have one name", async () => {
    const admin = control.as("admin");
    const [beta] = await admin.tenant.list({ search: "beta" });
    if (!beta) throw new Error("no beta");
    await expect(
      admin.tenant.update({ id: beta.id, name: "acme", revision: beta.revision }),
    ).rejects.toMatchObject({ code: "BAD_REQUEST" });
    const renamed = await admin.tenant.update({ id: beta.id, name: "gamma", revision: beta.revision });
    expect(renamed).toMatchObject({ id: beta.id, name: "gamma", enabled: true, keys: { live: 1 } });
    const stale = await conflictFrom(
      admin.tenant.update({ id: beta.id, window: 4, revision: beta.revision }),
    );
    expect(stale.changes).toEqual([{ field: "name", before: "beta", after: "gamma" }]);
  });

  it("are archived with their keys revoked and their counts kept, and restored without them", async () => {
    const admin = control.as("admin");
    const [gamma] = await admin.tenant.list({ search: "gamma" });
    if (!gamma) throw new Error("no gamma");
    await count(gamma.id);
    const archived = await admin.tenant.archive({ id: gamma.id, revision: gamma.revision });
    expect(archived).toMatchObject({
      enabled: false,
      keys: { live: 0, total: 1 },
      archivedAt: expect.any(Date),
    });
    const list = await told();
    expect(list.tenants.map(({ name }) => name)).not.toContain("gamma");
    expect(list.keys).toEqual([]);
    expect(await control.db.requestStat.count({ where: { tenantId: gamma.id } })).toBe(1);
    expect((await admin.tenant.list()).map(({ name }) => name)).not.toContain("gamma");
    expect((await admin.tenant.list({ archived: true })).map(({ name }) => name)).toEqual(["gamma"]);
    await expect(
      admin.tenant.setEnabled({ id: gamma.id, enabled: true, revision: archived.revision }),
    ).rejects.toThrow(/archived/);
    await expect(admin.key.create({ tenantId: gamma.id, name: "late" })).rejects.toThrow(/archived/);
    await expect(admin.tenant.create({ name: "gamma" })).rejects.toThrow(/archived: restore it/);
    const back = await admin.tenant.restore({ id: gamma.id, revision: archived.revision });
    expect(back).toMatchObject({ enabled: false, archivedAt: null, keys: { live: 0 } });
  });

  it("keep no key that was made or rotated while they were archived", async () => {
    const admin = control.as("admin");
    for (const [round, verb] of ["create", "rotate", "create", "rotate", "create", "rotate"].entries()) {
      const tenant = await admin.tenant.create({ name: `racing-${round}` });
      const first = await admin.key.create({ tenantId: tenant.id, name: "ci" });
      await Promise.allSettled([
        admin.tenant.archive({ id: tenant.id, revision: tenant.revision }),
        verb === "create"
          ? admin.key.create({ tenantId: tenant.id, name: "late" })
          : admin.key.rotate({ id: first.id }),
      ]);
      const now = await admin.tenant.get({ id: tenant.id });
      expect(now).toMatchObject({ archivedAt: expect.any(Date), keys: { live: 0 } });
    }
  });

  it("come back without a key that archiving had let slip", async () => {
    const admin = control.as("admin");
    const { id, revision } = await admin.tenant.create({ name: "slipped" });
    const key = await admin.key.create({ tenantId: id, name: "ci" });
    const archived = await admin.tenant.archive({ id, revision });
    await control.db.apiKey.update({ where: { id: key.id }, data: { revokedAt: null } });
    const back = await admin.tenant.restore({ id, revision: archived.revision });
    expect(back.keys).toMatchObject({ live: 0, total: 1 });
    expect((await told()).keys.map(({ prefix }) => prefix)).not.toContain(key.prefix);
  });

  it("are removed only where nothing was counted, at the revision that was seen", async () => {
    const admin = control.as("admin");
    const [gamma] = await admin.tenant.list({ search: "gamma" });
    if (!gamma) throw new Error("no gamma");
    await expect(admin.tenant.remove({ id: gamma.id, revision: gamma.revision })).rejects.toThrow(
      /archive it instead/,
    );
    const fresh = await admin.tenant.create({ name: "fresh" });
    await admin.key.create({ tenantId: fresh.id, name: "ci" });
    await admin.tenant.setEnabled({ id: fresh.id, enabled: true, revision: fresh.revision });
    const stale = await conflictFrom(admin.tenant.remove({ id: fresh.id, revision: fresh.revision }));
    expect(stale.changes).toEqual([{ field: "enabled", before: false, after: true }]);
    await admin.tenant.remove({ id: fresh.id, revision: fresh.revision + 1 });
    expect((await told()).keys).toEqual([]);
    const used = await admin.tenant.create({ name: "used" });
    const { id: keyId } = await admin.key.create({ tenantId: used.id, name: "ci" });
    await control.db.apiKey.update({ where: { id: keyId }, data: { lastUsedAt: new Date() } });
    await expect(admin.tenant.remove({ id: used.id, revision: used.revision })).rejects.toThrow(
      /archive it instead/,
    );
  });

  it("keep their name on counts that arrive after they were removed", async () => {
    const admin = control.as("admin");
    const brief = await admin.tenant.create({ name: "brief" });
    await admin.tenant.remove({ id: brief.id, revision: brief.revision });
    const { bucket: at } = await count(brief.id);
    const where = { tenantId: brief.id, bucket: at };
    await control.db.requestStat.updateMany({ where, data: { bucket: new Date() } });
    const { tenants } = await admin.traffic.summary({ hours: 1 });
    expect(tenants.map(({ name }) => name)).toContain("brief (removed)");
  });
});

describe("an API key", () => {
  it("is taken over by a new one, ends after its grace, and is taken over once", async () => {
    const admin = control.as("admin");
    const tenant = await admin.tenant.create({ name: "rotating" });
    const first = await admin.key.create({ tenantId: tenant.id, name: "ci" });
    const second = await admin.key.rotate({ id: first.id, graceS: 3600 });
    expect(second.key).toMatch(/^hlm_[a-z0-9]{8}_[A-Za-z0-9_-]{40,}$/);
    expect(second.replaces.endsAt.getTime() - Date.now()).toBeGreaterThan(3_500_000);
    const rows = await admin.key.list({ tenantId: tenant.id });
    expect(rows).toMatchObject([
      { id: second.id, name: "ci", state: "VALID", replaces: first.prefix, replacedBy: null },
      { id: first.id, state: "EXPIRES_SOON", replacedBy: second.prefix },
    ]);
    expect((await told()).keys.find(({ prefix }) => prefix === first.prefix)?.expires_at).toBe(
      second.replaces.endsAt.toISOString(),
    );
    await expect(admin.key.rotate({ id: first.id })).rejects.toThrow(/rotated already/);
    const third = await admin.key.rotate({ id: second.id, graceS: 0 });
    expect((await admin.key.list({ tenantId: tenant.id })).map(({ state }) => state)).toEqual([
      "VALID",
      "REVOKED",
      "EXPIRES_SOON",
    ]);
    await admin.key.revoke({ id: third.id });
    await expect(admin.key.rotate({ id: third.id })).rejects.toThrow(/REVOKED/);
  });

  it("ends no later for having been rotated", async () => {
    const admin = control.as("admin");
    const tenant = await admin.tenant.create({ name: "ending" });
    const expiresAt = new Date(Date.now() + 60_000);
    const key = await admin.key.create({ tenantId: tenant.id, name: "ci", expiresAt });
    expect((await admin.key.rotate({ id: key.id, graceS: 86_400 })).replaces.endsAt).toEqual(expiresAt);
  });

  it("is used, to the minute, only forward, and never in the future", async () => {
    const admin = control.as("admin");
    const tenant = await admin.tenant.create({ name: "using" });
    const { prefix } = await admin.key.create({ tenantId: tenant.id, name: "ci" });
    const { recordStats } = await import("../traffic/record-stats");
    const { inTransaction, outsideTransaction } = await import("../transaction");
    const node = await control.db.host.create({
      data: {
        kind: "node",
        name: "n",
        credentialHash: "h",
        version: "1",
        device: "cpu",
        hardware: "none",
        devices: [],
      },
    });
    const { services } = control;
    const ctx = outsideTransaction({
      services,
      actor: { kind: "host", hostKind: "node", id: node.id, name: "n" },
      requestId: "r",
      address: "local",
      log: services.log,
    });
    const now = Date.now();
    let sent = now;
    const report = (at: number) => {
      sent += 1000;
      return inTransaction(ctx, { audited: false, publish: false }, (inner) =>
        recordStats({
          ctx: inner,
          input: {
            since: new Date(sent - 1000).toISOString(),
            until: new Date(sent).toISOString(),
            rows: [],
            keys: [
              { prefix, last_used_at: new Date(at).toISOString() },
              { prefix: "hlm_nobodys0", last_used_at: new Date(at).toISOString() },
            ],
          },
        }),
      );
    };
    const used = async () => (await admin.key.list({ tenantId: tenant.id }))[0]?.lastUsedAt ?? new Date(0);
    await report(now - 600_000);
    expect(minute(await used())).toBe(minute(new Date(now - 600_000)));
    expect((await used()).getTime() % 60_000).toBe(0);
    await report(now - 900_000);
    expect(minute(await used())).toBe(minute(new Date(now - 600_000)));
    await report(now + 86_400_000);
    expect((await used()).getTime()).toBeLessThanOrEqual(Date.now());
    expect((await admin.tenant.get({ id: tenant.id })).keys.lastUsedAt).toEqual(await used());
  });
});
