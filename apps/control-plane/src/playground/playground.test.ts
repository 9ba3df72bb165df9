import type { PlaygroundAnswer, PlaygroundOrder, PlaygroundReply } from "@helm/contracts";
import type { Socket } from "socket.io-client";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { outcomes, whileWritersWait } from "../testing/moment";
import { connectNode, joinNode } from "../testing/node";
import { outsideTransaction } from "../transaction";
import { expireRuns } from "./expire-runs";

let control: TestControlPlane;
let nodeId: string;
let socket: Socket;
beforeAll(async () => {
  control = await testControlPlane();
  const node = await joinNode(control, "n1");
  nodeId = node.id;
  socket = connectNode(control.url, node.credential).socket;
  await vi.waitUntil(async () => (await control.as("viewer").node.get({ id: nodeId })).connected, {
    timeout: 20_000,
  });
});
afterAll(async () => {
  socket.disconnect();
  await control.stop();
});

/** TEST DOUBLE. What a node says to each question. */
function answers(say: (order: PlaygroundOrder) => PlaygroundReply | Promise<PlaygroundReply>) {
  socket.off("playground");
  socket.on("playground", async (order: PlaygroundOrder, reply: (said: PlaygroundReply) => void) =>
    reply(await say(order)),
  );
}

const good = ({ side }: PlaygroundOrder): PlaygroundReply => {
  const answer: PlaygroundAnswer = {
    side,
    status: 200,
    error: null,
    text: `${side} says so`,
    cut: false,
    model: side,
    decision: "explicit",
    reason: null,
    transfer: "none",
    trace_id: "0".repeat(32),
    prompt_tokens: 3,
    completion_tokens: 3,
    tokens_moved: null,
    first_token_ms: 4,
    total_ms: 9,
  };
  return { ok: true, answer };
};

const operator = () => control.as("operator").playground;
const ask = (over: object = {}) =>
  operator().ask({ nodeId, route: "helm-auto", prompt: "a secret question", ...over });
const ended = async (id: string) => {
  await expect
    .poll(async () => (await operator().get({ id })).state, { timeout: 20_000 })
    .not.toBe("RUNNING");
  return operator().get({ id });
};

it("asks the node three times, one after the other, and keeps what it said for the person alone", async () => {
  const orders: PlaygroundOrder[] = [];
  answers((order) => {
    orders.push(order);
    return good(order);
  });
  const { id } = await ask({ system: "Be brief.", maxTokens: 7 });
  const run = await ended(id);
  expect(run).toMatchObject({ state: "DONE", error: null, node: { name: "n1" } });
  expect(run.answers.map(({ text }) => text)).toEqual(["routed says so", "pilot says so", "target says so"]);
  expect(orders.map(({ side, system, max_tokens }) => [side, system, max_tokens])).toEqual([
    ["routed", "Be brief.", 7],
    ["pilot", "Be brief.", 7],
    ["target", "Be brief.", 7],
  ]);
  await expect(control.as("admin").playground.get({ id })).rejects.toThrow(/no such question of yours/);
  await expect(control.as("viewer").playground.get({ id })).rejects.toThrow(/needs the role operator/);
  const rows = await control.db.auditEntry.findMany({ where: { entityId: id } });
  expect(rows.map(({ verb }) => verb)).toEqual(["playground.ask"]);
  expect(JSON.stringify(rows)).not.toContain("secret question");
});

it("ends with the node's own words where it cannot ask, and says so where it is silent", async () => {
  answers(() => ({ ok: false, code: "NO_ROUTE", message: "This node has no route helm-auto." }));
  expect(await ended((await ask()).id)).toMatchObject({
    state: "FAILED",
    error: "This node has no route helm-auto.",
    answers: [],
  });
  answers(() => ({ nonsense: true }) as unknown as PlaygroundReply);
  expect((await ended((await ask()).id)).error).toMatch(/cannot be read/);
});

it("is cancelled on the node too, and takes only so many of one person at a time", async () => {
  let release: () => void = () => {};
  const cancelled: string[] = [];
  socket.on("playground-cancel", ({ id }: { id: string }) => {
    cancelled.push(id);
    release();
  });
  answers((order) => new Promise((resolve) => (release = () => resolve(good(order)))));
  const [first] = [await ask(), await ask()];
  await expect(ask()).rejects.toThrow(/2 questions under way/);
  expect(await operator().cancel({ id: first.id })).toMatchObject({ state: "CANCELLED" });
  await expect.poll(() => cancelled).toEqual([first.id]);
  expect((await ended(first.id)).state).toBe("CANCELLED");
});

it("lets nobody ask more at a time by asking at one moment", async () => {
  answers(() => new Promise(() => {}));
  await control.db.playgroundRun.updateMany({ data: { state: "DONE" } });
  let asked: Promise<unknown>[] = [];
  await whileWritersWait(control, "PlaygroundRun", async (waiting) => {
    asked = [1, 2, 3].map(() => ask());
    await waiting(3);
  });
  expect((await outcomes(asked)).sort()).toEqual(["RATE_LIMITED", "done", "done"]);
  expect(await control.db.playgroundRun.count({ where: { state: "RUNNING" } })).toBe(2);
});

it("names what is wrong before it asks, and forgets after an hour", async () => {
  await expect(ask({ prompt: "  " })).rejects.toThrow(/write a prompt/);
  await expect(ask({ nodeId: crypto.randomUUID() })).rejects.toThrow(/no such node/);
  const away = await joinNode(control, "away");
  const lastSeenAt = new Date(Date.now() - 60_000);
  await control.db.host.update({ where: { id: away.id }, data: { lastSeenAt } });
  await expect(ask({ nodeId: away.id })).rejects.toThrow(/is not connected/);
  const { services } = control;
  const actor = { kind: "system", name: "test" } as const;
  const ctx = outsideTransaction({ services, actor, requestId: "t", address: "local", log: services.log });
  expect(await expireRuns(ctx)).toBe(0);
  await control.db.playgroundRun.updateMany({ data: { createdAt: new Date(Date.now() - 61 * 60_000) } });
  expect(await expireRuns(ctx)).toBeGreaterThan(3);
});
