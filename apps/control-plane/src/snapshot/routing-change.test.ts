import { randomBytes } from "node:crypto";
import { RoutingSnapshot } from "@helm/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { connectNode, H200, joinNode, numberOf, type TestNode } from "../testing/node";
import { until } from "../testing/until";
import { BUNDLED, joinWorker, registerPair, type TestWorker } from "../testing/worker";

let control: TestControlPlane;
let worker: TestWorker;
let pairId: string;
let development: TestNode;
let production: TestNode;

const admin = () => control.as("admin");
const viewer = () => control.as("viewer");
const newest = async () => {
  const row = await control.db.routingSnapshot.findFirstOrThrow({ orderBy: { generation: "desc" } });
  return RoutingSnapshot.parse(JSON.parse(row.document));
};
const pairNow = async () => (await newest()).pairs.find(({ id }) => id === pairId);
const revision = async () => (await viewer().setting.get()).revision;
const route = async (window: number) => {
  const { revision: at } = (await viewer().route.get()) ?? { revision: 0 };
  return admin().route.update({ name: "helm-auto", window, revision: at });
};

beforeAll(async () => {
  control = await testControlPlane();
  worker = await joinWorker(control);
  development = await joinNode(control, "dev-1");
  production = await joinNode(control, "prod-1", { devices: [H200] });
  pairId = (await registerPair(control, worker, "pilot", "target")).pairId ?? "";
});
afterAll(() => control.stop());

async function calibrate(): Promise<string> {
  const { id } = await admin().calibration.start({ pairId, device: "cpu" });
  await worker.run(randomBytes(64), { share: 1 });
  const mapper = (await viewer().mapper.list({ pairId })).rows.find(
    ({ calibrationId }) => calibrationId === id,
  );
  return mapper?.id ?? "";
}

describe("placement", () => {
  const placement = () => viewer().pair.placement({ id: pairId });

  it("is every node at first, and the named ones once there are some", async () => {
    expect(await placement()).toMatchObject({ placed: false, nodes: [{ here: true }, { here: true }] });
    expect((await pairNow())?.nodes).toBeNull();
    const { revision: at } = await placement();
    const after = await admin().pair.place({ id: pairId, nodeIds: [production.id], revision: at });
    expect(after).toMatchObject({
      placed: true,
      nodes: [
        { name: "dev-1", here: false },
        { name: "prod-1", here: true },
      ],
    });
    expect((await pairNow())?.nodes).toEqual([production.id]);
    await admin().pair.unplace({ id: pairId, revision: after.revision });
    expect((await pairNow())?.nodes).toBeNull();
  });

  it("tells beside it why no node uses the pair, by the verdict that the nodes are told", async () => {
    expect((await pairNow())?.refusal).toBe("NOT_CALIBRATED");
    expect(await placement()).toMatchObject({ refusal: "NOT_CALIBRATED", nodes: [{ here: true }, {}] });
  });

  it("tells the second of two people what the first one stored", async () => {
    const { revision: at } = await placement();
    await admin().pair.place({ id: pairId, nodeIds: [production.id], revision: at });
    await expect(admin().pair.unplace({ id: pairId, revision: at })).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining("prod-1"),
    });
    await admin().pair.unplace({ id: pairId, revision: (await placement()).revision });
  });

  it("keeps what a CPU made on development nodes: in the snapshot, and against who asks otherwise", async () => {
    await calibrate();
    expect(await pairNow()).toMatchObject({ development: true, nodes: [development.id] });
    const { revision: at } = await placement();
    await expect(
      admin().pair.place({
        id: pairId,
        nodeIds: [production.id, "00000000-0000-7000-8000-000000000000"],
        revision: at,
      }),
    ).rejects.toMatchObject({
      message: expect.stringMatching(/no node.*prod-1 is no development node/s),
      cause: { code: "PLACEMENT_REFUSED", details: { causes: [{}, { node: production.id }] } },
    });
    const second = await joinNode(control, "dev-2");
    expect((await pairNow())?.nodes?.toSorted()).toEqual([development.id, second.id].sort());
    await admin().host.revoke({ id: second.id });
    expect((await pairNow())?.nodes).toEqual([development.id]);
  });

  it("is a node fewer, and never one more, when the only node it names is revoked", async () => {
    const third = await joinNode(control, "dev-3");
    await admin().pair.place({ id: pairId, nodeIds: [third.id], revision: (await placement()).revision });
    await admin().host.revoke({ id: third.id });
    expect((await pairNow())?.nodes).toEqual([]);
    await admin().pair.unplace({ id: pairId, revision: (await placement()).revision });
  });
});

describe("a generation", () => {
  it("says who caused it, by what, and what it changed against the one before", async () => {
    await route(48);
    const { rows, nextCursor } = await viewer().snapshot.list({ limit: 1 });
    expect(rows).toMatchObject([
      { actor: { kind: "person", name: "admin@example.com" }, verbs: ["route.update"], rolledBackTo: null },
    ]);
    const generation = rows[0]?.generation ?? 0;
    expect(nextCursor).toBe(generation);
    const older = await viewer().snapshot.list({ limit: 2, cursor: nextCursor });
    expect(older.rows.map((row) => row.generation)).toEqual([generation - 1, generation - 2]);
    const found = await viewer().snapshot.get({ generation });
    expect(found).toMatchObject({ newest: true, content: { generation } });
    expect(found.differences.map(({ sentence }) => sentence)).toEqual([
      "Route helm-auto, window: 64 tokens becomes 48 tokens",
    ]);
    await expect(viewer().snapshot.get({ generation: 9_999 })).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: expect.stringContaining(String(generation)),
    });
  });

  it("is compared with any other, and with what the settings give", async () => {
    const { generation } = await newest();
    const back = await viewer().snapshot.diff({ from: generation, to: generation - 1 });
    expect(back.differences).toMatchObject([{ kind: "route", field: "window", before: "48 tokens" }]);
    const first = await viewer().snapshot.diff({ from: 1, to: generation });
    expect(first.differences.some(({ kind, before }) => kind === "pair" && before === null)).toBe(true);
    expect((await viewer().snapshot.diff({ from: generation, to: null })).differences).toEqual([]);
  });

  it("that has a route less says what its callers get from then on", async () => {
    const { generation: without } = await newest();
    await admin().route.create({
      name: "short-lived",
      pairId,
      judge: { meanLogprob: -1, minLogprob: -5 },
    });
    const { generation } = await newest();
    const back = await viewer().snapshot.diff({ from: generation, to: without });
    expect(back.differences.map(({ sentence }) => sentence)).toEqual([
      expect.stringMatching(
        /^Route short-lived is gone: .*\. Callers that ask for short-lived get 404 model_not_found from then on\.$/,
      ),
    ]);
    const { revision: at } = (await viewer().route.list()).find(({ name }) => name === "short-lived") ?? {};
    await admin().route.remove({ name: "short-lived", revision: at ?? 0 });
  });

  it("gets a number of its own from each of many who publish at once", async () => {
    const { generation } = await newest();
    const other = await control.restart({ port: 0 });
    try {
      const tenants = await Promise.all(
        Array.from({ length: 3 }, (_, index) => admin().tenant.create({ name: `crowd-${index}` })),
      );
      expect(tenants).toHaveLength(3);
      let at = await revision();
      const switched: Promise<unknown>[] = [];
      for (let turn = 0; turn < 8; turn += 1) {
        switched.push(admin().setting.setHelmEnabled({ enabled: turn % 2 === 0, revision: at }));
        await Promise.allSettled(switched);
        at = await revision();
        const { revision: routeAt } = (await viewer().route.get()) ?? { revision: 0 };
        await Promise.allSettled([
          admin().route.update({ name: "helm-auto", window: 40 + turn, revision: routeAt }),
          admin().setting.setHelmEnabled({ enabled: turn % 2 === 1, revision: at }),
        ]);
        at = await revision();
      }
    } finally {
      await other.stop();
    }
    const rows = await control.db.routingSnapshot.findMany({
      where: { generation: { gt: generation } },
      orderBy: { createdAt: "asc" },
    });
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.map((row) => row.generation)).toEqual(rows.map((_, index) => generation + 1 + index));
    for (const row of rows) expect(JSON.parse(row.document).generation).toBe(row.generation);
    expect(
      (await viewer().snapshot.diff({ from: (await newest()).generation, to: null })).differences,
    ).toEqual([]);
  });
});

describe("a rollback", () => {
  it("is a new generation with old content, held while nothing is changed deliberately", async () => {
    await route(100);
    const old = await newest();
    await route(200);
    const before = (await newest()).generation;
    const rolled = await admin().snapshot.rollback({
      generation: old.generation,
      newest: before,
      note: "answers got worse",
    });
    expect(rolled).toEqual({ generation: before + 1, rolledBackTo: old.generation });
    expect(await newest()).toMatchObject({ generation: before + 1, routes: [{ window: 100 }] });
    expect((await viewer().snapshot.list({ limit: 1 })).rows).toMatchObject([
      { rolledBackTo: old.generation, note: "answers got worse", verbs: ["snapshot.rollback"] },
    ]);
    const { hold } = await viewer().snapshot.state();
    expect(hold).toMatchObject({ generation: old.generation, by: "admin@example.com" });
    expect(hold?.differences.map(({ sentence }) => sentence)).toEqual([
      "Route helm-auto, window: 100 tokens becomes 200 tokens",
    ]);
    // A tenant is no routing: nothing new is published, nothing comes back.
    await admin().tenant.create({ name: "while-held" });
    expect((await newest()).generation).toBe(before + 1);
  });

  it("lets a deliberate change through alone, and keeps the rest", async () => {
    const { helmEnabled } = await viewer().setting.get();
    await admin().setting.setHelmEnabled({ enabled: !helmEnabled, revision: await revision() });
    expect(await newest()).toMatchObject({ helm_enabled: !helmEnabled, routes: [{ window: 100 }] });
    expect((await viewer().snapshot.state()).hold?.differences).toHaveLength(1);
  });

  it("keeps out what happens by itself, such as a mapper that becomes active after a run", async () => {
    const mapper = (await viewer().mapper.list({ pairId })).rows.find(({ state }) => state === "ACTIVE");
    const { generation } = await newest();
    await joinNode(control, "dev-late");
    expect((await newest()).generation).toBe(generation);
    expect((await pairNow())?.mapper_sha256).toBe(mapper?.sha256);
    const differences = (await viewer().snapshot.state()).hold?.differences ?? [];
    expect(differences.map(({ field }) => field).sort()).toEqual(["nodes", "window"]);
  });

  it("is refused to who did not see the newest generation, with what it is", async () => {
    const { generation } = await newest();
    await expect(admin().snapshot.rollback({ generation: 1, newest: generation - 1 })).rejects.toMatchObject({
      code: "CONFLICT",
      cause: { details: { newest: generation } },
    });
  });

  it("while another change goes on ends as one of the two orders, never as a mixture", async () => {
    const { generation } = await newest();
    const old = (await viewer().snapshot.state()).hold?.generation ?? 0;
    const [rolled, changed] = await Promise.allSettled([
      admin().snapshot.rollback({ generation: old, newest: generation }),
      route(77),
    ]);
    expect(changed.status).toBe("fulfilled");
    const now = await newest();
    if (rolled.status === "fulfilled") expect([77, 100]).toContain(now.routes[0]?.window);
    else expect(rolled.reason).toMatchObject({ code: "CONFLICT" });
    const rows = await control.db.routingSnapshot.findMany({ where: { generation: { gt: generation } } });
    expect(new Set(rows.map((row) => row.generation)).size).toBe(rows.length);
    await route(200);
  });

  it("ends with a release, which brings what the settings say", async () => {
    const state = await viewer().snapshot.state();
    const held = state.hold?.generation;
    if (held === undefined) throw new Error("nothing is held");
    await expect(admin().snapshot.release({ held: held + 1 })).rejects.toMatchObject({ code: "CONFLICT" });
    const { generation } = await admin().snapshot.release({ held });
    expect(await newest()).toMatchObject({ generation, routes: [{ window: 200 }] });
    expect((await viewer().snapshot.state()).hold).toBeNull();
    expect((await viewer().snapshot.diff({ from: generation, to: null })).differences).toEqual([]);
    await expect(admin().snapshot.release({ held })).rejects.toMatchObject({ code: "CONFLICT" });
  });

  it("is refused where old content may no longer be used, with every cause", async () => {
    const { generation } = await newest();
    const active = (await viewer().mapper.list({ pairId })).rows.find(({ state }) => state === "ACTIVE");
    await admin().mapper.retire({ id: active?.id ?? "" });
    await control.db.model.update({ where: { name: "target" }, data: { weightsSha256: "f".repeat(64) } });
    const now = (await newest()).generation;
    await expect(admin().snapshot.rollback({ generation, newest: now })).rejects.toMatchObject({
      cause: {
        code: "ROLLBACK_REFUSED",
        details: { causes: [{ cause: "MAPPER_RETIRED" }, { cause: "MODEL_CHANGED" }] },
      },
    });
    expect((await viewer().snapshot.state()).hold).toBeNull();
  });

  it("lets go of a mapper that is retired while it is held", async () => {
    await control.db.model.update({
      where: { name: "target" },
      data: { weightsSha256: BUNDLED.target.weights_sha256 },
    });
    // The pair had one before, so an administrator decides.
    const first = await calibrate();
    await admin().mapper.activate({ id: first });
    const old = (await newest()).generation;
    const second = await calibrate();
    await admin().mapper.activate({ id: second });
    await admin().snapshot.rollback({ generation: old, newest: (await newest()).generation });
    const sha = (await viewer().mapper.list({ pairId })).rows.find(({ id }) => id === first)?.sha256;
    expect((await pairNow())?.mapper_sha256).toBe(sha);
    await admin().mapper.retire({ id: first });
    expect(await pairNow()).toMatchObject({ mapper_sha256: null, refusal: "NOT_CALIBRATED" });
    await admin().snapshot.release({ held: old });
    expect(await pairNow()).toMatchObject({ mapper_sha256: expect.any(String), refusal: null });
    expect((await viewer().pair.placement({ id: pairId })).refusal).toBeNull();
  });
});

describe("orders to a node", () => {
  it("reach it signed, with a number that only grows, and again whenever it connects", async () => {
    const node = connectNode(control.url, development.credential);
    await until(
      () => node.received.length,
      (n) => n >= 2,
    );
    expect(node.of("orders")).toEqual([]);
    const operator = control.as("operator");
    await operator.node.drain({ id: development.id, reason: "new driver" });
    await until(
      () => node.of("orders").length,
      (n) => n >= 1,
    );
    await expect(operator.node.drain({ id: development.id })).rejects.toMatchObject({ code: "CONFLICT" });
    await operator.node.canary({ id: development.id });
    const orders = await until(
      () => node.of("orders"),
      (all) => all.length >= 2,
    );
    expect(orders.map(({ content }) => content)).toMatchObject([
      { node_id: development.id, drain: true, canary: 0 },
      { node_id: development.id, drain: true, canary: 1 },
    ]);
    expect(numberOf(orders[1] as (typeof orders)[0])).toBeGreaterThan(
      numberOf(orders[0] as (typeof orders)[0]),
    );
    node.socket.disconnect();

    const other = await control.restart({ port: 0 });
    const again = connectNode(other.url, development.credential);
    const [same] = await until(
      () => again.of("orders"),
      (all) => all.length >= 1,
    );
    expect(same?.document).toEqual(orders[1]?.document);
    again.socket.disconnect();
    await other.stop();
    await operator.node.undrain({ id: development.id });
    expect(await viewer().node.get({ id: development.id })).toMatchObject({
      orders: { drain: false, canary: 1, revision: 3, by: "operator@example.com" },
    });
  });

  it("that a node refuses leave the acknowledged generation as it was, and say what was refused", async () => {
    const node = connectNode(control.url, production.credential);
    const { generation } = await newest();
    await until(
      () => viewer().node.get({ id: production.id }),
      ({ generation: at }) => at.acked === generation,
    );
    node.answer = ({ document }) => ({
      ok: false,
      generation,
      sha256: document.sha256,
      reason: "the document breaks its schema at routes",
      kept_generation: generation,
    });
    await route(91);
    const refused = await until(
      () => viewer().node.get({ id: production.id }),
      ({ nackReason }) => nackReason !== null,
    );
    expect(refused).toMatchObject({
      generation: { desired: generation + 1, acked: generation },
      nackReason: "the document breaks its schema at routes",
    });
    const { rows } = await viewer().node.acks({ id: production.id });
    expect(rows.slice(0, 2)).toMatchObject([
      { number: generation + 1, ok: false, kept: generation },
      { number: generation, ok: true },
    ]);
    const { nodes } = await viewer().snapshot.state();
    expect(nodes.find(({ id }) => id === production.id)).toMatchObject({
      answer: { ok: false, kept: generation },
    });
    node.socket.disconnect();
  });
});
