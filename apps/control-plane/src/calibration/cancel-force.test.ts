import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { until } from "../testing/until";
import { joinWorker, registerPair, runEvents, type TestWorker } from "../testing/worker";

let control: TestControlPlane;
let worker: TestWorker;
let pairId: string;

beforeAll(async () => {
  control = await testControlPlane({ HELM_CANCEL_FORCE_MS: "2500", HELM_LEASE_MS: "20000" });
  worker = await joinWorker(control);
  pairId = (await registerPair(control, worker, "pilot", "target")).pairId ?? "";
});
afterAll(() => control.stop());

const get = (id: string) => control.as("viewer").calibration.get({ id });

async function running() {
  const { id } = await control.as("operator").calibration.start({ pairId, device: "cpu" });
  const job = (await worker.claim()).json;
  expect(job.id).toBe(id);
  return { id, attempt: job.attempt as string };
}

describe("a cancelled run whose worker does not end it", () => {
  it("counts down, becomes CANCELLED though its worker goes on beating, and is fenced from then on", async () => {
    const { id, attempt } = await running();
    expect((await get(id)).cancelForcedInMs).toBeNull();
    await control.as("operator").calibration.cancel({ id });
    const asked = await get(id);
    expect(asked).toMatchObject({ state: "RUNNING", cancelRequested: true });
    expect(asked.cancelForcedInMs).toBeGreaterThan(0);
    expect(asked.cancelForcedInMs).toBeLessThanOrEqual(2_500);
    expect((await worker.heartbeat(id, attempt)).json).toMatchObject({ action: "cancel" });
    // It hangs: it beats and sends, and never says that it has ended.
    const ended = await until(
      async () => {
        await worker.heartbeat(id, attempt);
        return get(id);
      },
      (run) => run.state !== "RUNNING",
    );
    expect(ended).toMatchObject({ state: "CANCELLED", cancelForcedInMs: null });
    expect(ended.attempts).toMatchObject([{ state: "CANCELLED", error: { code: "ENDED_BY_FORCE" } }]);
    const { rows } = await control.as("admin").audit.list({ verb: "calibration.cancelByForce" });
    expect(rows[0]).toMatchObject({ entityId: id, after: { state: "CANCELLED", attempt: 1 } });

    expect((await worker.heartbeat(id, attempt)).json).toMatchObject({ action: "fenced" });
    const late = runEvents(Buffer.from("late"), { share: 1 });
    expect((await worker.events(id, attempt, late)).json.error.code).toBe("ATTEMPT_FENCED");
    expect((await worker.upload(id, attempt, Buffer.from("late"))).json.error.code).toBe("ATTEMPT_FENCED");
    expect((await worker.finish(id, { attempt, outcome: "cancelled" })).json.error.code).toBe(
      "ATTEMPT_FENCED",
    );
    expect((await get(id)).lastSeq).toBe(0);
  });

  it("frees the pair's place, and a retry of it is a new attempt; the old one's log stays readable", async () => {
    const { id, attempt } = await running();
    const events = runEvents(Buffer.from("x"), { share: 1 }).slice(0, 4);
    await worker.events(id, attempt, events);
    await control.as("operator").calibration.cancel({ id });
    await until(
      () => get(id),
      (run) => run.state === "CANCELLED",
    );
    await control.as("operator").calibration.retry({ id });
    const second = (await worker.claim()).json;
    expect(second).toMatchObject({ id, attempt_number: 2 });
    await worker.events(id, second.attempt, events.slice(0, 1));
    const log = (number: number) => control.as("viewer").calibration.events({ id, attempt: number });
    expect((await log(1)).events.map(({ type }) => type)).toEqual(["started", "stage", "progress", "log"]);
    expect((await log(2)).events.map(({ type }) => type)).toEqual(["started"]);
    await worker.finish(id, { attempt: second.attempt, outcome: "cancelled" });
  });
});
