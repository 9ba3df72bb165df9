import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { ladder } from "../testing/ladder";

let control: TestControlPlane;

beforeAll(async () => {
  control = await testControlPlane();
});
afterAll(() => control.stop());

it("stores a ladder whole under its node, newest first, with its audit row", async () => {
  const { token } = await control.as("admin").host.createJoinToken({ kind: "node" });
  const joined = await control.request("POST", "/api/hosts/join", {
    json: {
      kind: "node",
      join_token: token,
      name: "gpu-1",
      version: "1",
      device: "cpu",
      hardware: "none",
      devices: [],
      url: "http://10.0.0.1:8000/",
    },
  });
  expect(joined.status).toBe(200);
  const requestId = randomUUID();
  const of = ladder({ gateway: "http://10.0.0.1:8000", stopped: { clients: 2, rule: "CORRUPTED" } });
  const first = await control.as("operator", requestId).ladder.record(of);
  const second = await control.as("operator").ladder.record(ladder());
  const rows = await control.as("viewer").ladder.list();
  expect(rows.map(({ id, node }) => [id, node?.name ?? null])).toEqual([
    [second.id, null],
    [first.id, "gpu-1"],
  ]);
  expect(rows[1]?.result).toEqual(of);
  expect(rows[1]?.recordedBy).toBe("operator@example.com");
  expect(await control.db.auditEntry.findMany({ where: { requestId } })).toMatchObject([
    {
      verb: "ladder.record",
      entityId: first.id,
      after: { rungs: 2, clients: 2, stopped: "CORRUPTED", targetsMet: "1 of 1" },
    },
  ]);
  const page = await control.as("viewer").ladder.list({ before: second.id, limit: 10 });
  expect(page.map(({ id }) => id)).toEqual([first.id]);
});

it("keeps one that is sent twice once, also when both come together", async () => {
  const again = ladder({ model: "twice" });
  const sent = await Promise.allSettled([
    control.as("operator").ladder.record(again),
    control.as("operator").ladder.record(again),
  ]);
  expect(sent.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(sent.find(({ status }) => status === "rejected")).toMatchObject({
    reason: { cause: { code: "CONFLICT" } },
  });
  const stored = (await control.as("viewer").ladder.list()).filter(({ result }) => result.model === "twice");
  expect(stored).toHaveLength(1);
});
