import { randomBytes, randomUUID } from "node:crypto";
import { HelmError } from "@helm/contracts";
import { io } from "socket.io-client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { evaluation } from "../testing/evaluation";
import { joinWorker, registerPair, runEvents, sequence, type TestWorker } from "../testing/worker";
import { requireStorable } from "./storable";

let control: TestControlPlane;
let worker: TestWorker;
let job: { id: string; attempt: string };

beforeAll(async () => {
  control = await testControlPlane();
  worker = await joinWorker(control);
  const { pairId } = await registerPair(control, worker, "pilot", "target");
  await control.as("operator").calibration.start({ pairId: pairId ?? "", device: "cpu" });
  job = (await worker.claim()).json;
});
afterAll(() => control.stop());

const NUL = "a\u0000b";
const HALF = "a\ud800b";
const base = { v: 1, at: "2026-11-30T06:00:00.000Z" };
const counts = (changes: object) => [
  { ...base, type: "counts", arm: "mapper", sequences: [{ ...sequence(0, 1), ...changes }] },
];
const [start] = runEvents(randomBytes(8), { share: 1 });

const EVENTS: [string, object[]][] = [NUL, HALF].flatMap((odd) => [
  [`domain ${JSON.stringify(odd)}`, counts({ domain: odd })],
  [`id ${JSON.stringify(odd)}`, counts({ id: odd })],
  [`log ${JSON.stringify(odd)}`, [{ ...base, type: "log", level: "info", message: odd }]],
  [`metric ${JSON.stringify(odd)}`, [{ ...base, type: "metric", name: "x", deep: [{ [odd]: 1 }] }]],
  [`start ${JSON.stringify(odd)}`, [{ ...start, versions: { torch: odd } }]],
]) as [string, object[]][];
EVENTS.push(
  ["a count beyond its column", counts({ first: { agree: 3e9, total: 3e9 } })],
  ["a rescue beyond its column", counts({ recovered: 3e9 })],
  ["a prefix beyond its column", counts({ prefixes: [3e9] })],
  ["a long domain", counts({ domain: "x".repeat(100_000) })],
);

it.each(EVENTS)("an event that cannot be stored is refused for good over HTTP: %s", async (_, events) => {
  const json = { job: job.id, attempt: job.attempt, events: events.map((event) => ({ seq: 1, event })) };
  const path = `/api/worker/jobs/${job.id}/events`;
  const answer = await control.request("POST", path, { json, bearer: worker.credential });
  expect(answer).toMatchObject({ status: 400, json: { error: { code: "BAD_REQUEST" } } });
});

it("and over the socket", async () => {
  const socket = io(`${control.url}/workers`, {
    auth: { credential: worker.credential },
    transports: ["websocket"],
  });
  await new Promise((resolve, reject) => {
    socket.on("connect", () => resolve(null));
    socket.on("connect_error", reject);
  });
  for (const [name, events] of EVENTS) {
    const batch = { job: job.id, attempt: job.attempt, events: events.map((event) => ({ seq: 1, event })) };
    const ack = await socket.timeout(20_000).emitWithAck("calibration:event", batch);
    expect([name, ack]).toEqual([name, { ok: false, last_seq: 0, code: "BAD_REQUEST" }]);
  }
  socket.disconnect();
});

it("nothing else that comes in reaches the database with it", async () => {
  for (const odd of [NUL, HALF]) {
    const finish = { attempt: job.attempt, outcome: "failed", message: odd };
    expect((await worker.finish(job.id, finish)).status).toBe(400);
    expect((await worker.claim({ waiting: odd })).status).toBe(400);
    for (const changes of [{ device: odd }, { versions: { [odd]: "1" } }]) {
      const recorded = control
        .as("operator", randomUUID())
        .evaluation.record(evaluation("0".repeat(64), changes));
      await expect(recorded).rejects.toMatchObject({ code: "BAD_REQUEST" });
    }
  }
});

it("needs no stack for what is nested without end, and takes no bytes", () => {
  let deep: unknown = "x";
  for (let i = 0; i < 200_000; i += 1) deep = [deep];
  expect(() => requireStorable(deep)).toThrow(HelmError);
  expect(() => requireStorable({ a: new Uint8Array(4) })).toThrow(HelmError);
  expect(() => requireStorable({ a: ["\u{1f6f6}", 1, null, true] })).not.toThrow();
});
