import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { outsideTransaction } from "../transaction";
import { AckBook } from "./ack-book";
import type { AckInput } from "./record-acks";

let control: TestControlPlane;
const ids = Array.from({ length: 40 }, () => randomUUID()).sort();
const sha256 = "a".repeat(64);

beforeAll(async () => {
  control = await testControlPlane();
  await control.db.host.createMany({
    data: ids.map((id) => ({
      id,
      kind: "node" as const,
      name: id,
      credentialHash: id,
      version: "1",
      device: "cpu",
      hardware: "none",
      devices: [],
    })),
  });
});
afterAll(() => control.stop());

const contextOf = (id: string) =>
  outsideTransaction({
    services: control.services,
    actor: { kind: "host", hostKind: "node", id, name: id },
    requestId: randomUUID(),
    address: "127.0.0.1",
    log: control.services.log,
  });
const ack = (sent: number, over: Partial<AckInput["ack"]> = {}): AckInput => ({
  kind: "routing_snapshot",
  sent,
  ack: { ok: true, generation: sent, sha256, ...over },
});
const states = () => control.db.nodeState.findMany({ where: { nodeId: { in: ids } } });
const acked = async () => (await states()).map((state) => state.ackedGeneration);

it("records the acks of many nodes, with a few transactions", async () => {
  const book = new AckBook();
  await Promise.all(ids.map((id) => book.record(contextOf(id), ack(7))));
  expect(await acked()).toEqual(ids.map(() => 7));
  const rows = await control.db.nodeAck.findMany({ where: { generation: 7 } });
  expect(rows).toHaveLength(ids.length);
  expect(rows[0]).toMatchObject({ ok: true, sha256, reason: null, kind: "routing_snapshot" });
});

it("moves forward only, a nack moves nothing, and what is acked after it clears it", async () => {
  const book = new AckBook();
  const [one = "", two = ""] = ids;
  await book.record(contextOf(one), ack(5));
  await book.record(contextOf(two), ack(9, { ok: false, reason: "no such route", kept_generation: 7 }));
  const before = new Map((await states()).map((state) => [state.nodeId, state]));
  expect(before.get(one)).toMatchObject({ ackedGeneration: 7, nackReason: null });
  expect(before.get(two)).toMatchObject({ ackedGeneration: 7, nackReason: "no such route" });
  await Promise.all([
    book.record(contextOf(two), ack(10)),
    book.record(contextOf(two), { ...ack(3), kind: "access_list" }),
    book.record(contextOf(two), { ...ack(1), kind: "node_orders" }),
  ]);
  const after = await control.db.nodeState.findUniqueOrThrow({ where: { nodeId: two } });
  expect(after).toMatchObject({ ackedGeneration: 10, nackReason: null, accessVersion: 3 });
  expect(await control.db.nodeAck.count({ where: { nodeId: two, kind: "node_orders", generation: 1 } })).toBe(
    1,
  );
});

it("lets one that cannot be recorded fail alone", async () => {
  const book = new AckBook();
  const some = ids.slice(10, 20);
  const outcomes = await Promise.allSettled(
    [...some, randomUUID()].map((id) => book.record(contextOf(id), ack(11))),
  );
  expect(outcomes.map(({ status }) => status)).toEqual([...some.map(() => "fulfilled"), "rejected"]);
  expect(await control.db.nodeAck.count({ where: { generation: 11, ok: true } })).toBe(some.length);
});
