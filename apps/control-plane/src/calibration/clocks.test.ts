import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { until } from "../testing/until";
import { joinWorker, registerPair, runEvents, type TestWorker } from "../testing/worker";

const HOUR = 3_600_000;

let control: TestControlPlane;
let worker: TestWorker;
let pairId: string;

beforeAll(async () => {
  control = await testControlPlane({ HELM_LEASE_MS: "4000" });
  worker = await joinWorker(control);
  pairId = (await registerPair(control, worker, "pilot", "target")).pairId ?? "";
});
afterAll(() => control.stop());
beforeEach(() => {
  vi.useRealTimers();
});

/** The control plane's own clock is moved; the database's stays right. */
function moveClock(byMs: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + byMs });
  onTestFinished(() => void vi.useRealTimers());
}

const get = (id: string) => control.as("viewer").calibration.get({ id });
const dated = (at: string) => runEvents(Buffer.from("x"), { share: 1 }).map((event) => ({ ...event, at }));
const post = (path: string, json: unknown) =>
  control.request("POST", `/api/worker/${path}`, { json, bearer: worker.credential });

async function running() {
  const { id } = await control.as("operator").calibration.start({ pairId, device: "cpu" });
  const job = (await worker.claim()).json;
  expect(job.id).toBe(id);
  return {
    id,
    attempt: job.attempt as string,
    end: () => worker.finish(id, { attempt: job.attempt, outcome: "cancelled" }),
  };
}

it.each([
  ["ahead", 5 * HOUR],
  ["behind", -5 * HOUR],
])("a control plane whose clock is hours %s loses no run and keeps no dead one", async (_, byMs) => {
  const { id, attempt, end } = await running();
  moveClock(byMs);
  for (let beat = 0; beat < 3; beat++) {
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect((await worker.heartbeat(id, attempt)).json).toMatchObject({ action: "continue" });
  }
  expect((await get(id)).state).toBe("RUNNING");
  // The worker counts as there, and is listed with times of the database.
  const [row] = await control.as("viewer").worker.list();
  expect(row?.connected).toBe(true);
  const silent = await until(
    () => get(id),
    (run) => run.state === "LOST",
  );
  expect(silent.state).toBe("LOST");
  expect((await worker.heartbeat(id, attempt)).json).toMatchObject({ action: "continue" });
  vi.useRealTimers();
  await end();
});

it.each([
  ["ahead", 7 * HOUR],
  ["behind", -7 * HOUR],
])(
  "events of a worker whose clock is hours %s are dated rightly, and its row says by how much",
  async (_, byMs) => {
    const { id, attempt, end } = await running();
    const real = Date.now();
    const at = new Date(real + byMs - 60_000).toISOString();
    const events = dated(at)
      .slice(0, 4)
      .map((event, i) => ({ seq: i + 1, event }));
    const sentAt = new Date(Date.now() + byMs).toISOString();
    const answer = await post(`jobs/${id}/events`, { job: id, attempt, events, sent_at: sentAt });
    expect(answer.json).toEqual({ ok: true, last_seq: 4 });
    const log = await control.as("viewer").calibration.events({ id });
    for (const event of log.events)
      expect(Math.abs(event.at.getTime() - (real - 60_000))).toBeLessThan(20_000);
    await end();
    await worker.claim({ at: new Date(Date.now() + byMs).toISOString() });
    const [row] = await control.as("viewer").worker.list();
    expect(Math.abs((row?.clockSkewMs ?? 0) - byMs)).toBeLessThanOrEqual(20_000);
  },
);

it.each([
  "no date",
  "",
  "+275760-09-13T00:00:00.000Z",
  "-271821-04-20T00:00:00.000Z",
  "9999-12-31T23:59:59Z",
  "1970-01-01",
])("an event dated %j is kept, with the time at which it came", async (at) => {
  const { id, attempt, end } = await running();
  const before = Date.now();
  expect((await worker.events(id, attempt, dated(at).slice(0, 4))).json).toEqual({ ok: true, last_seq: 4 });
  const log = await control.as("viewer").calibration.events({ id });
  expect(log.events).toHaveLength(4);
  for (const event of log.events) expect(event.at.getTime()).toBeGreaterThan(before - 20_000);
  await end();
});
