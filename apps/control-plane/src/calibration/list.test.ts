import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { joinWorker, registerPair, type TestWorker } from "../testing/worker";

let control: TestControlPlane;
let worker: TestWorker;
let pairId: string;
let reverse: string;
const runs: Record<string, string> = {};

beforeAll(async () => {
  control = await testControlPlane();
  worker = await joinWorker(control);
  pairId = (await registerPair(control, worker, "pilot", "target")).pairId ?? "";
  reverse = (await registerPair(control, worker, "target", "pilot")).pairId ?? "";
  const start = async (name: string, role: "operator" | "admin", pair: string) => {
    runs[name] = (await control.as(role).calibration.start({ pairId: pair, device: "cpu" })).id;
  };
  await start("cleared", "operator", pairId);
  await worker.run(randomBytes(64), { share: 1 });
  await start("below", "operator", pairId);
  await worker.run(randomBytes(64), { share: 0.7 });
  await start("cancelled", "admin", pairId);
  await control.as("admin").calibration.cancel({ id: runs.cancelled ?? "" });
  await start("queued", "admin", reverse);
});
afterAll(() => control.stop());

type Input = Parameters<ReturnType<typeof control.as>["calibration"]["list"]>[0];
async function found(input: Input): Promise<string[]> {
  const { rows } = await control.as("viewer").calibration.list(input);
  return rows.map(({ id }) => Object.keys(runs).find((name) => runs[name] === id) ?? id);
}

it("is narrowed by state, verdict, pair, person and time, all at once", async () => {
  expect(await found({ states: ["QUEUED", "CANCELLED"] })).toEqual(["queued", "cancelled"]);
  expect(await found({ verdict: "BELOW_GATE" })).toEqual(["below"]);
  expect(await found({ pairId: reverse })).toEqual(["queued"]);
  const { rows } = await control.as("viewer").calibration.list({});
  const [newest] = rows;
  const starters = await control.as("viewer").calibration.starters();
  expect(starters).toEqual([...new Set(rows.map(({ startedBy }) => startedBy))].sort());
  expect(await found({ startedBy: newest?.startedBy })).toEqual(["queued", "cancelled"]);
  const second = rows.at(-2)?.createdAt;
  expect(await found({ since: second })).toEqual(["queued", "cancelled", "below"]);
  expect(await found({ until: second })).toEqual(["cleared"]);
  expect(await found({ startedBy: newest?.startedBy, states: ["SUCCEEDED"] })).toEqual([]);
});

it("goes on from its cursor, filtered, without a row twice or left out", async () => {
  const first = await control.as("viewer").calibration.list({ pairId, limit: 2 });
  const rest = await control.as("viewer").calibration.list({ pairId, limit: 2, cursor: first.nextCursor });
  expect([...first.rows, ...rest.rows].map(({ id }) => id)).toEqual([
    runs.cancelled,
    runs.below,
    runs.cleared,
  ]);
  expect(rest.nextCursor).toBeNull();
});

it("says since when a run waits for its reason, and not anew when a figure in it changes", async () => {
  const waiting = async () =>
    (await control.as("viewer").calibration.get({ id: runs.queued ?? "" })) as {
      waitingReason: string;
      waitingSince: Date;
    };
  const before = await waiting();
  expect(before.waitingSince).toBeInstanceOf(Date);
  await worker.claim({ waiting: "The GPU is in use: 3.1 GiB are taken." });
  const first = await waiting();
  expect(first.waitingReason).toContain("3.1 GiB");
  expect(first.waitingSince.getTime()).toBeGreaterThanOrEqual(before.waitingSince.getTime());
  await worker.claim({ waiting: "The GPU is in use: 2.9 GiB are taken." });
  const second = await waiting();
  expect(second.waitingReason).toContain("2.9 GiB");
  expect(second.waitingSince).toEqual(first.waitingSince);
});

it("goes by when a run was created: one brought later stands where it belongs, also page by page", async () => {
  const cleared = await control.db.calibration.findUniqueOrThrow({ where: { id: runs.cleared } });
  const older = new Date(cleared.createdAt.getTime() - 86_400_000);
  for (const id of [runs.cancelled, runs.below])
    await control.db.calibration.update({ where: { id }, data: { createdAt: older } });
  const list = (cursor?: string | null) => control.as("viewer").calibration.list({ limit: 1, cursor });
  const seen: string[] = [];
  for (let page = await list(); ; page = await list(page.nextCursor)) {
    seen.push(...page.rows.map(({ id }) => id));
    if (!page.nextCursor) break;
  }
  // Two of the same moment: the later id first.
  expect(seen).toEqual([runs.queued, runs.cleared, runs.cancelled, runs.below]);
});
