import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { until } from "../testing/until";
import { BUNDLED, joinWorker, runEvents, sha256 } from "../testing/worker";

let control: TestControlPlane;
let seeds: string;
// A mapper belongs to the weights that it was fitted for.
const mappers = { cleared: randomBytes(512), "below-gate": randomBytes(512) };

async function record(
  name: keyof typeof mappers,
  source: string,
  target: string,
  share: number,
  gate?: number,
): Promise<void> {
  const folder = join(seeds, name);
  const mapper = mappers[name];
  await mkdir(folder);
  const events = runEvents(mapper, { share }).map((event) =>
    event.type === "started"
      ? {
          ...event,
          pair: {
            source: event.pair[source === "pilot" ? "source" : "target"],
            target: event.pair[target === "target" ? "target" : "source"],
          },
        }
      : event,
  );
  await writeFile(
    join(folder, "run.json"),
    JSON.stringify({ source, target, corpus: "bundled", device: "cpu", gate }),
  );
  await writeFile(
    join(folder, "events.jsonl.gz"),
    gzipSync(events.map((event) => JSON.stringify(event)).join("\n")),
  );
  await writeFile(join(folder, "mapper.safetensors"), mapper);
}

beforeAll(async () => {
  seeds = await mkdtemp(join(tmpdir(), "helm-seeds-"));
  await record("cleared", "pilot", "target", 1);
  await record("below-gate", "target", "pilot", 0.7, 0.95);
  control = await testControlPlane({ HELM_SEED: "bundled,cleared,below-gate", HELM_SEEDS_DIR: seeds });
});
afterAll(async () => {
  await control.stop();
  await rm(seeds, { recursive: true });
});

it("seeds the bundled pairs through a worker, then gives each the run that was recorded for it", async () => {
  expect(await control.as("viewer").tenant.list()).toMatchObject([{ name: "demo", enabled: false }]);
  const worker = await joinWorker(control);
  await worker.inspectAll(BUNDLED);
  const statuses = async () =>
    Object.fromEntries((await control.as("viewer").pair.list()).map((pair) => [pair.name, pair.status]));
  const wanted = {
    "pilot -> target": "ELIGIBLE",
    "target -> pilot": "TRANSFER_INELIGIBLE",
    "target -> target": "NOT_CALIBRATED",
  };
  const found = await until(statuses, (now) => JSON.stringify(now) === JSON.stringify(wanted));
  expect(found).toEqual(wanted);
  const gates = (await control.as("viewer").pair.list()).map((pair) => [pair.name, pair.gate]);
  expect(Object.fromEntries(gates)).toMatchObject({ "pilot -> target": 0.9, "target -> pilot": 0.95 });
  expect(await control.as("viewer").route.get()).toMatchObject({
    name: "helm-auto",
    pairName: "pilot -> target",
  });
  expect(await control.services.artifacts.size(sha256(mappers.cleared))).toBe(512);
  // An old measurement is not to pass for a new one: the times are the run's own.
  for (const { startedAt, finishedAt } of await control.db.calibration.findMany()) {
    const newest = await control.db.calibrationEvent.aggregate({ _max: { at: true } });
    expect(finishedAt?.getTime()).toBeLessThanOrEqual(newest._max.at?.getTime() ?? 0);
    expect(finishedAt?.getTime()).toBeGreaterThanOrEqual(startedAt?.getTime() ?? Number.POSITIVE_INFINITY);
  }
  const { finishedAt: ends } = await control.db.calibration.findFirstOrThrow({
    where: { verdict: "CLEARED" },
  });
  const active = await control.db.mapper.findFirstOrThrow({ where: { state: "ACTIVE" } });
  expect(active.createdAt).toEqual(ends);
  const again = await control.restart();
  await again.stop();
  expect(await control.db.calibration.count()).toBe(2);
});
