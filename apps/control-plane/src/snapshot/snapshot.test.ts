import { createPublicKey, randomBytes, verify } from "node:crypto";
import { AccessList, type NodeAck, NodeOrders, RoutingSnapshot, type SignedDocument } from "@helm/contracts";
import { io, type Socket } from "socket.io-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashSecret } from "../access/secret";
import { NODE_TOKEN, type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { until } from "../testing/until";
import { joinWorker, registerPair, sha256 } from "../testing/worker";
import { refusalOf } from "./compile-routing";

let control: TestControlPlane;
let node: { id: string; credential: string; signing_key: string };

beforeAll(async () => {
  control = await testControlPlane();
  node = (
    await control.request("POST", "/api/hosts/join", {
      json: {
        kind: "node",
        join_token: NODE_TOKEN,
        name: "n1",
        version: "0.1.0",
        device: "cpu",
        hardware: "allowed",
        devices: [],
        url: "http://127.0.0.1:8000",
      },
    })
  ).json;
});
afterAll(() => control.stop());

const newest = async () =>
  RoutingSnapshot.parse(
    JSON.parse(
      (await control.db.routingSnapshot.findFirstOrThrow({ orderBy: { generation: "desc" } })).document,
    ),
  );
const access = async () =>
  AccessList.parse(
    JSON.parse(
      (await control.db.accessListVersion.findFirstOrThrow({ orderBy: { version: "desc" } })).document,
    ),
  );
const revision = async () => (await control.as("viewer").setting.get()).revision;

describe("documents", () => {
  it("exist from the first boot, with Helm off", async () => {
    expect(await newest()).toMatchObject({ generation: 1, helm_enabled: false, pairs: [], routes: [] });
    expect(await access()).toMatchObject({ version: 1, kill_switch: false });
  });

  it("get a new number only where their own content changed", async () => {
    const admin = control.as("admin");
    await admin.setting.setHelmEnabled({ enabled: false, revision: await revision() });
    expect([(await newest()).generation, (await access()).version]).toEqual([1, 1]);
    await admin.setting.setHelmEnabled({ enabled: true, revision: await revision() });
    expect([(await newest()).generation, (await access()).version]).toEqual([2, 1]);
    const tenant = await admin.tenant.create({ name: "acme" });
    expect([(await newest()).generation, (await access()).version]).toEqual([2, 2]);
    const { id, key, prefix } = await admin.key.create({ tenantId: tenant.id, name: "ci" });
    expect(key).toMatch(/^hlm_[a-z0-9]{8}_[A-Za-z0-9_-]{40,}$/);
    expect((await access()).keys).toEqual([
      { hash: hashSecret(key), prefix, tenant_id: tenant.id, expires_at: null },
    ]);
    await admin.tenant.setEnabled({ id: tenant.id, enabled: true, revision: tenant.revision });
    expect((await access()).tenants).toMatchObject([{ name: "acme", enabled: true }]);
    await expect(
      admin.tenant.setEnabled({ id: tenant.id, enabled: false, revision: tenant.revision }),
    ).rejects.toMatchObject({ code: "CONFLICT" });
    await admin.key.revoke({ id });
    expect((await access()).keys).toEqual([]);
    await admin.setting.setKillSwitch({ on: true, revision: await revision() });
    expect(await access()).toMatchObject({ version: 6, kill_switch: true });
    expect((await newest()).generation).toBe(2);
  });

  it("are refused a pair whose target does no better than its pilot, unless the policy says otherwise", () => {
    const mapper = { warnings: ["NOT_ABOVE_PILOT"] };
    expect(refusalOf("ELIGIBLE", mapper, false, true)).toBe("NOT_ABOVE_PILOT");
    expect(refusalOf("ELIGIBLE", mapper, false, false)).toBeNull();
    expect(refusalOf("ELIGIBLE", mapper, true, true)).toBeNull();
    expect(refusalOf("NOT_CALIBRATED", null, false, true)).toBe("NOT_CALIBRATED");
    expect(refusalOf("TRANSFER_INELIGIBLE", null, false, true)).toBe("TRANSFER_INELIGIBLE");
  });
});

describe("a node", () => {
  let socket: Socket;
  const received: { kind: string; document: SignedDocument }[] = [];
  let answer: (kind: string, document: SignedDocument) => NodeAck;

  beforeAll(async () => {
    answer = (kind, document) => {
      const parsed = JSON.parse(document.document);
      return {
        ok: true,
        generation: kind === "snapshot" ? parsed.generation : parsed.version,
        sha256: document.sha256,
      };
    };
    socket = io(`${control.url}/nodes`, {
      auth: { credential: node.credential },
      transports: ["websocket"],
      addTrailingSlash: false,
    });
    for (const kind of ["snapshot", "access-list"]) {
      socket.on(kind, (document: SignedDocument, reply: (ack: NodeAck) => void) => {
        received.push({ kind, document });
        reply(answer(kind, document));
      });
    }
    await until(
      async () => received.length,
      (n) => n >= 2,
    );
  });
  afterAll(() => socket.disconnect());

  it("receives both at connect, signed by the key it was given when it joined", async () => {
    expect(received.map(({ kind }) => kind)).toEqual(["access-list", "snapshot"]);
    for (const { document } of received) {
      const bytes = Buffer.from(document.document, "utf8");
      expect(sha256(bytes)).toBe(document.sha256);
      expect(
        verify(null, bytes, createPublicKey(node.signing_key), Buffer.from(document.signature, "base64")),
      ).toBe(true);
    }
    const [row] = await until(
      () => control.as("viewer").node.list(),
      ([found]) => found?.generation.acked === 2,
    );
    expect(row).toMatchObject({
      connected: true,
      generation: { desired: 2, acked: 2 },
      access: { desired: 6, acked: 6 },
    });
  });

  it("hears the kill switch within a second", async () => {
    await control.as("admin").setting.setKillSwitch({ on: false, revision: await revision() });
    const committed = Date.now();
    await until(
      async () => received.length,
      (n) => n >= 3,
    );
    expect(Date.now() - committed).toBeLessThan(1000);
    expect(received.at(-1)?.kind).toBe("access-list");
  });

  it("that refuses a document is shown with its reason and what it kept", async () => {
    answer = (_, document) => ({
      ok: false,
      generation: JSON.parse(document.document).generation,
      sha256: document.sha256,
      reason: "schema",
      kept_generation: 2,
    });
    await control.as("admin").setting.setHelmEnabled({ enabled: false, revision: await revision() });
    const [row] = await until(
      () => control.as("viewer").node.list(),
      ([found]) => found?.nackReason !== null,
    );
    expect(row).toMatchObject({ nackReason: "schema", generation: { desired: 3, acked: 2 } });
    const [snapshot] = (await control.as("viewer").snapshot.list()).rows;
    expect(snapshot).toMatchObject({ generation: 3, acks: [{ ok: false, reason: "schema" }] });
  });

  it("reports readiness and counters, each counted once", async () => {
    const worker = await joinWorker(control);
    const { pairId } = await registerPair(control, worker, "pilot", "target");
    await control.as("admin").calibration.start({ pairId: pairId ?? "", device: "cpu" });
    const artifact = randomBytes(300);
    await worker.run(artifact, { share: 1 });
    const { generation } = await newest();
    const report = {
      active_generation: generation,
      acked_generation: generation,
      access_version: 7,
      engine: { name: "reference", healthy: true, development: true, models: [] },
      pairs: [{ pair_id: pairId, state: "READY", min_tokens: null }],
    };
    expect(await socket.emitWithAck("readiness", report)).toEqual({ ok: true });
    // What can never be taken is refused for good: the node drops it instead of repeating it.
    const nonsense = await socket.emitWithAck("readiness", { nonsense: true });
    expect(nonsense).toEqual({ ok: false, refused: true });
    expect((await control.as("viewer").overview.helm()).configuration).toMatchObject({
      activeNodes: 1,
      routableNow: 1,
    });
    const end = new Date();
    const row = {
      tenant_id: "t",
      pair_id: pairId,
      decision: "escalated",
      reason: null,
      transfer: "transferred",
      requests: 3,
      tokens_moved: 120,
      first_token_ms_sum: 90,
    };
    const stats = {
      since: new Date(end.getTime() - 5000).toISOString(),
      until: end.toISOString(),
      rows: [row],
    };
    await socket.emitWithAck("stats", stats);
    await socket.emitWithAck("stats", stats);
    const traffic = await control.as("viewer").traffic.summary({ hours: 1 });
    expect(traffic).toMatchObject({
      total: { requests: 3, tokensMoved: 120, transferred: 3 },
      firstTokenMsMean: 30,
    });
    const part = await control.request("GET", `/api/node/artifacts/${sha256(artifact)}`, {
      bearer: node.credential,
      headers: { range: "bytes=100-199" },
    });
    expect(part.status).toBe(206);
    expect(part.bytes.equals(artifact.subarray(100, 200))).toBe(true);
  });

  it("is cut when its credential is revoked, and cannot come back", async () => {
    const cut = new Promise((resolve) => socket.on("disconnect", resolve));
    await control.as("admin").host.revoke({ id: node.id });
    await cut;
    const refused = await control.request("GET", `/api/node/artifacts/${"a".repeat(64)}`, {
      bearer: node.credential,
    });
    expect(refused.status).toBe(401);
  });

  it("joins with a token once", async () => {
    const again = await control.request("POST", "/api/hosts/join", {
      json: {
        kind: "node",
        join_token: NODE_TOKEN,
        name: "n2",
        version: "0.1.0",
        device: "cpu",
        hardware: "none",
        devices: [],
      },
    });
    expect(again).toMatchObject({ status: 401, json: { error: { code: "TOKEN_INVALID" } } });
  });
});

/** A node that answers to everything but snapshots, and to the first of those once it is told to. */
async function slowNode(name: string) {
  const { token } = await control.as("admin").host.createJoinToken({ kind: "node" });
  const joined = await control.request("POST", "/api/hosts/join", {
    json: {
      kind: "node",
      join_token: token,
      name,
      version: "0.1.0",
      device: "cpu",
      hardware: "none",
      devices: [],
    },
  });
  const socket = io(`${control.url}/nodes`, {
    auth: { credential: joined.json.credential },
    transports: ["websocket"],
    addTrailingSlash: false,
  });
  const taken = {
    lists: [] as AccessList[],
    orders: [] as NodeOrders[],
    snapshots: 0,
    answerSnapshot: () => {},
  };
  socket.on("snapshot", (document: SignedDocument, reply: (ack: NodeAck) => void) => {
    taken.snapshots += 1;
    if (taken.snapshots > 1) return;
    const { generation } = RoutingSnapshot.parse(JSON.parse(document.document));
    taken.answerSnapshot = () => reply({ ok: true, generation, sha256: document.sha256 });
  });
  socket.on("access-list", (document: SignedDocument, reply: (ack: NodeAck) => void) => {
    const list = AccessList.parse(JSON.parse(document.document));
    taken.lists.push(list);
    reply({ ok: true, generation: list.version, sha256: document.sha256 });
  });
  socket.on("orders", (document: SignedDocument, reply: (ack: NodeAck) => void) => {
    const orders = NodeOrders.parse(JSON.parse(document.document));
    taken.orders.push(orders);
    reply({ ok: true, generation: orders.revision, sha256: document.sha256 });
  });
  return { id: joined.json.id as string, socket, taken };
}

it("hears of a revoked key within a second although it never answers to a snapshot", async () => {
  const { socket, taken } = await slowNode("slow to route");
  try {
    const admin = control.as("admin");
    const tenant = await admin.tenant.create({ name: "leaver" });
    const key = await admin.key.create({ tenantId: tenant.id, name: "ci" });
    const knows = (list: AccessList | undefined) => list?.keys.some(({ prefix }) => prefix === key.prefix);
    await until(
      async () => taken.snapshots > 0 && knows(taken.lists.at(-1)),
      (ready) => ready === true,
    );
    await admin.key.revoke({ id: key.id });
    const revoked = Date.now();
    await until(
      async () => knows(taken.lists.at(-1)),
      (known) => known === false,
    );
    expect(Date.now() - revoked).toBeLessThan(1000);
  } finally {
    socket.disconnect();
  }
});

it("is drained while its answer to a snapshot is awaited", async () => {
  const { id, socket, taken } = await slowNode("slow to drain");
  try {
    expect(
      await until(
        () => taken.snapshots,
        (sent) => sent === 1,
      ),
    ).toBe(1);
    await control.as("operator").node.drain({ id });
    const acks = (kind: string) => () => control.db.nodeAck.count({ where: { nodeId: id, kind, ok: true } });
    expect(await until(acks("node_orders"), (count) => count === 1)).toBe(1);
    expect(taken.orders.at(-1)?.drain).toBe(true);
    taken.answerSnapshot();
    expect(await until(acks("routing_snapshot"), (count) => count === 1)).toBe(1);
    // Its answer was to the first one, which was awaited all the time.
    expect(taken.snapshots).toBe(1);
  } finally {
    socket.disconnect();
  }
});
