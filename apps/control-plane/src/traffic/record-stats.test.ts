import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { connectNode, joinNode, type TestNode } from "../testing/node";

const HOUR = 3_600_000;

let control: TestControlPlane;
beforeAll(async () => {
  control = await testControlPlane();
});
afterAll(() => control.stop());

const reportUntil = (until: number, requests: number, id: string | null = randomUUID()) => ({
  ...(id && { id }),
  since: new Date(until - 3_000).toISOString(),
  until: new Date(until).toISOString(),
  rows: [
    {
      tenant_id: "t",
      pair_id: null,
      decision: "explicit",
      reason: null,
      transfer: null,
      requests,
      tokens_moved: 0,
      first_token_ms_sum: 0,
    },
  ],
});

async function connected(name: string) {
  const node: TestNode = await joinNode(control, name);
  const { socket } = connectNode(control.url, node.credential);
  const say = (report: unknown) => socket.timeout(30_000).emitWithAck("stats", report);
  const counted = async () => {
    const rows = await control.db.requestStat.findMany({ where: { nodeId: node.id } });
    return rows.reduce((sum, { requests }) => sum + Number(requests), 0);
  };
  return { id: node.id, socket, say, counted };
}

for (const kind of ["a node", "an older node, whose reports have no id"] as const) {
  it(`counts every report of ${kind} once, also after its clock was ahead`, async () => {
    const node = await connected(kind);
    const idOf = () => (kind === "a node" ? randomUUID() : null);
    const ahead = reportUntil(Date.now() + HOUR, 5, idOf());
    const right = reportUntil(Date.now(), 100, idOf());
    for (const report of [ahead, ahead, right, right, ahead])
      expect(await node.say(report)).toEqual({ ok: true });
    expect(await node.counted()).toBe(105);
    const rows = await control.db.requestStat.findMany({ where: { nodeId: node.id } });
    for (const { bucket } of rows) expect(bucket.getTime()).toBeLessThanOrEqual(Date.now());
    node.socket.disconnect();
  });
}

it("refuses for good what can never be counted", async () => {
  const node = await connected("odd");
  const now = Date.now();
  const good = reportUntil(now, 1);
  const [row] = good.rows;
  for (const odd of [
    reportUntil(now, -7),
    reportUntil(now, 1.5),
    reportUntil(now, 1e15),
    { ...good, until: "yesterday" },
    { ...good, rows: Array.from({ length: 5_001 }, () => row) },
  ])
    expect(await node.say(odd)).toEqual({ ok: false, refused: true });
  expect(await node.counted()).toBe(0);
  expect(await node.say(good)).toEqual({ ok: true });
  expect(await node.counted()).toBe(1);
  node.socket.disconnect();
});
