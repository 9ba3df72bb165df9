import { randomBytes } from "node:crypto";
import type { CalibrationEvent, SequenceCounts } from "@helm/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import {
  facts,
  joinWorker,
  type RunShape,
  registerPair,
  SEQUENCES,
  sequence,
  type TestWorker,
} from "../testing/worker";

let control: TestControlPlane;
let worker: TestWorker;
let pairId: string;
let reverse: string;

beforeAll(async () => {
  control = await testControlPlane();
  worker = await joinWorker(control);
  pairId = (await registerPair(control, worker, "pilot", "target")).pairId ?? "";
  reverse = (await registerPair(control, worker, "target", "pilot")).pairId ?? "";
});
afterAll(() => control.stop());

const get = (id: string) => control.as("viewer").calibration.get({ id });

async function run(shape: RunShape, pair = pairId, corpus = "bundled") {
  const { id } = await control.as("operator").calibration.start({ pairId: pair, device: "cpu", corpus });
  await worker.run(randomBytes(64), shape);
  return id;
}

const counts = (arm: string, sequences: SequenceCounts[]) =>
  ({ v: 1, at: "2026-11-30T06:00:00.000Z", type: "counts", arm, sequences }) as CalibrationEvent;

/** More events, before the result. */
const and =
  (...more: CalibrationEvent[]) =>
  (events: CalibrationEvent[]) => [...events.slice(0, -1), ...more, ...events.slice(-1)];

describe("what a run measured is stored and comes back", () => {
  it("rows beyond the fitted length by multiple, counts by hand-over point and every layer's fit", async () => {
    const long = (multiple: 4 | 32, share: number) =>
      Array.from({ length: 16 }, (_, i) => sequence(i, share, { split: "long", multiple }));
    const fit = {
      k: { layers: [0, 1], lambda: 1e-4, r2: 0.9, best_single_r2: 0.7 },
      v: { layers: [1, 2], lambda: 1e-5, r2: 0.8, best_single_r2: 0.6 },
    };
    const metric = (layer: number) =>
      ({
        v: 1,
        at: "2026-11-30T06:00:00.000Z",
        type: "metric",
        name: "layer_fit",
        layer,
        fit,
      }) as CalibrationEvent;
    const pointed = (events: CalibrationEvent[]) =>
      events.map((event) =>
        event.type === "counts" && event.arm === "mapper"
          ? {
              ...event,
              sequences: event.sequences.map((row) => ({
                ...row,
                points: row.prefixes.map((prefix) => ({
                  prefix,
                  first: { agree: 1, total: 1 },
                  early: { agree: 15, total: 15 },
                  late: { agree: 48, total: 48 },
                })),
              })),
            }
          : event,
      );
    const id = await run({
      share: 1,
      edit: (events) =>
        and(
          counts("mapper", [...long(4, 1), ...long(32, 0)]),
          counts("identity", long(4, 1)),
          counts("zero_cache", long(4, 0)),
          metric(0),
          metric(1),
        )(pointed(events)),
    });
    const { assessment, fit: fits, gateLooks } = await get(id);
    expect(assessment).toMatchObject({
      verdict: "CLEARED",
      retention: { value: 1, n: SEQUENCES },
      by_prefix: {
        "64-127": { retention: 1, n: SEQUENCES },
        "256-511": { retention: 1, n: SEQUENCES },
      },
    });
    expect(assessment?.long).toMatchObject([
      { multiple: 4, arms: { mapper: { retention: 1, n: 16 }, zero_cache: { retention: 0 } } },
      { multiple: 32, arms: { mapper: { retention: 0, n: 16 }, identity: null } },
    ]);
    expect(fits).toEqual([
      { layer: 0, fit },
      { layer: 1, fit },
    ]);
    expect(gateLooks).toBe(1);
  });

  it("says how often a pair has looked at a corpus's gate probes, other pairs and corpora apart", async () => {
    const second = await run({ share: 0.9 });
    const other = await run({ share: 0.9 }, pairId, "local/mine");
    const back = await run({ share: 0.9 }, reverse);
    expect((await get(second)).gateLooks).toBe(2);
    expect((await get(other)).gateLooks).toBe(1);
    expect((await get(back)).gateLooks).toBe(1);
  });

  it("begins to count anew with other probes and with other weights, whatever the corpus is called", async () => {
    const started = (changes: object) => (events: CalibrationEvent[]) =>
      events.map((event) =>
        event.type === "started" ? ({ ...event, ...changes } as CalibrationEvent) : event,
      );
    const look = async (probes: string, weights: string | null = null) => {
      const corpus = { name: "mine", probes_sha256: probes };
      const target = facts("target");
      const source = facts("pilot", weights ? { weights_sha256: weights } : {});
      // Registered anew: a run of other weights than the pair's is refused.
      const registered = (model: typeof source) =>
        control.db.model.update({ where: { name: "pilot" }, data: { weightsSha256: model.weights_sha256 } });
      await registered(source);
      const edit = started({ corpus, pair: { source, target } });
      const page = await get(await run({ share: 0.9, edit }, pairId, "mine"));
      await registered(facts("pilot"));
      expect(page.corpusUsed).toEqual({ name: "mine", probes_sha256: probes });
      return page.gateLooks;
    };
    expect(await look("a")).toBe(1);
    expect(await look("b")).toBe(1);
    expect(await look("a")).toBe(2);
    expect(await look("a", "other")).toBe(1);
    expect(await look("b")).toBe(2);
  });

  it("the diagnosis below the gate, by the thresholds that the manifest names", async () => {
    const named = (events: CalibrationEvent[]) =>
      events.map((event) =>
        event.type === "result"
          ? { ...event, manifest: { diagnosis: { map_wrong_below: 0.2, sensitive_above: 0.5 } } }
          : event,
      );
    const { assessment } = await get(await run({ share: 0.7, edit: named }));
    expect(assessment).toMatchObject({ verdict: "BELOW_GATE", diagnosis: { code: "TARGET_SENSITIVE" } });
  });

  it("the options that a run was started with go to the worker and come back", async () => {
    const options = { long: true, sequences: 64, seed: 3 };
    const { id } = await control
      .as("operator")
      .calibration.start({ pairId, device: "cpu", method: "ridge", options });
    const job = await worker.claim();
    expect(job.json).toMatchObject({ id, method: "ridge", options });
    expect(await get(id)).toMatchObject({ options, method: "ridge" });
    await control.as("operator").calibration.cancel({ id });
    await worker.finish(id, { attempt: job.json.attempt, outcome: "cancelled" });
    const start = (input: object) =>
      control.as("operator").calibration.start({ pairId, device: "cpu", ...input });
    await expect(start({ method: "best" })).rejects.toMatchObject({ code: "BAD_REQUEST" });
    await expect(start({ options: { sequences: 0 } })).rejects.toMatchObject({ code: "BAD_REQUEST" });
    const longest = { seq_len: Number.MAX_SAFE_INTEGER };
    await expect(start({ options: longest })).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });
});

describe("counts that allow no verdict end the run as FAILED, with no score and no mapper", () => {
  it.each<[string, (events: CalibrationEvent[]) => CalibrationEvent[], RegExp]>([
    [
      "an arm is missing",
      (events) => events.filter((event) => event.type !== "counts" || event.arm !== "shuffled_heads"),
      /the arm shuffled_heads has no counts/,
    ],
    ["a sequence comes twice", and(counts("mapper", [sequence(3, 1)])), /101 sequences|sequences were sent/],
    [
      "an arm saw other sequences",
      and(counts("zero_cache", [sequence(SEQUENCES + 1, 1)])),
      /of the arm zero_cache is not among the mapper's/,
    ],
    [
      "the gate's probes are in the report",
      and(counts("mapper", [sequence(0, 1, { split: "report" })])),
      /in the gate and in the report split/,
    ],
  ])("%s", async (_, edit, message) => {
    const id = await run({ share: 1, edit });
    const found = await get(id);
    expect(found).toMatchObject({
      state: "FAILED",
      verdict: null,
      assessment: null,
      mapperId: null,
      error: { code: "COUNTS_REFUSED", message: expect.stringMatching(message), exitCode: 1 },
    });
  });
});

describe("two runs of a pair", () => {
  const compare = (first: string, second: string) =>
    control.as("viewer").calibration.compare({ first, second });
  it("are compared sequence by sequence, on the gate's probes", async () => {
    const worse = await run({ share: 0.8 });
    const better = await run({ share: 0.95 });
    const found = await compare(worse, better);
    expect(found).toMatchObject({ comparable: true, shared: SEQUENCES, outcome: "second_better" });
    if (!found.comparable) throw new Error(found.reason);
    const [first, second] = [await get(worse), await get(better)];
    const gain = (second.assessment?.retention.value ?? 0) - (first.assessment?.retention.value ?? 0);
    expect(found.difference.value).toBeCloseTo(gain, 12);
    expect(await compare(better, worse)).toMatchObject({ outcome: "first_better" });
  });
  it("are not where pair, corpus or score differ", async () => {
    const one = await run({ share: 0.9 });
    const back = await run({ share: 0.9 }, reverse);
    const mine = await run({ share: 0.9 }, pairId, "local/mine");
    const failed = await run({ share: 1, edit: and(counts("mapper", [sequence(0, 1)])) });
    await expect(compare(one, back)).rejects.toMatchObject({ code: "BAD_REQUEST" });
    expect(await compare(one, mine)).toMatchObject({
      comparable: true,
      paired: false,
      note: expect.stringContaining("different corpora"),
    });
    await expect(compare(one, failed)).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });
});
