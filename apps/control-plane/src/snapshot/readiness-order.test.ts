import { setTimeout as pause } from "node:timers/promises";
import { NodeReadiness } from "@helm/contracts";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { connectNode, joinNode } from "../testing/node";

let control: TestControlPlane;
beforeAll(async () => {
  control = await testControlPlane();
});
afterAll(() => control.stop());

it("a node's last report stands, also where the one before took longer to be written", async () => {
  const { id, credential } = await joinNode(control, "n");
  const { socket, of } = connectNode(control.url, credential);
  await vi.waitUntil(() => of("snapshot").length > 0, { timeout: 20_000 });
  const report = (active_generation: number): NodeReadiness =>
    NodeReadiness.parse({
      active_generation,
      acked_generation: 1,
      access_version: 1,
      engine: { name: "reference", healthy: true, development: true, models: [] },
      pairs: [],
    });
  const { db } = control.services;
  const original = db.$transaction.bind(db) as (...args: unknown[]) => Promise<unknown>;
  const begin = vi.spyOn(db, "$transaction");
  begin.mockImplementationOnce((async (...args: unknown[]) => {
    await pause(300);
    return original(...args);
  }) as never);
  await Promise.all([socket.emitWithAck("readiness", report(1)), socket.emitWithAck("readiness", report(2))]);
  begin.mockRestore();
  const state = await control.db.nodeState.findUniqueOrThrow({ where: { nodeId: id } });
  expect(state.activeGeneration).toBe(2);
  socket.disconnect();
});
