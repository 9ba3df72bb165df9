import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { gunzipSync } from "node:zlib";
import { CalibrationEvent, LayerFit, METHODS, type SequenceCounts } from "@helm/contracts";
import { assess, type CountsByArm } from "@helm/pairing";
import { beforeAll, describe, expect, it } from "vitest";
import { Screen } from "../../../terminal/screen";
import { CHECKOUT } from "../../../testing";
import { type Reported, reportLines } from "./index";

/** A screen of so many columns that is no terminal. */
function screen(columns: number): Screen {
  const out = Object.assign(new PassThrough(), { columns, isTTY: false }) as unknown as NodeJS.WriteStream;
  return new Screen(false, true, out, out);
}

/** The recorded run of the bundled pair, as a local run would report it. */
async function recorded(gate: number, change: (counts: CountsByArm) => CountsByArm = (same) => same) {
  const packed = await readFile(join(CHECKOUT, "prisma", "seeds", "cleared", "events.jsonl.gz"));
  const lines = gunzipSync(packed).toString("utf8").trim().split("\n");
  const events = lines.map((line) => CalibrationEvent.parse(JSON.parse(line)));
  const counts: CountsByArm = {};
  const fit: LayerFit[] = [];
  for (const event of events) {
    if (event.type === "counts") counts[event.arm] = [...(counts[event.arm] ?? []), ...event.sequences];
    if (event.type === "metric" && event.name === "layer_fit") fit.push(LayerFit.parse(event));
  }
  const started = events.find((event) => event.type === "started");
  const result = events.find((event) => event.type === "result");
  if (!started || !result) throw new Error("the record is not whole");
  const { method, k, device, corpus } = started;
  const { scores, cost, artifact } = result;
  const assessment = assess({
    counts: change(counts),
    gate,
    gateOn: "lower",
    control: false,
    method,
    dtype: "float32",
    kvCosine: scores.kv_cosine,
  });
  const made = { method, k, device, corpus: corpus.name };
  const pair = "pilot -> target";
  const reported: Reported = { pair, made, assessment, scores, cost, fit, artifact, development: true };
  return reported;
}

const long = (split: SequenceCounts, multiple: 4 | 32): SequenceCounts => ({
  ...split,
  split: "long",
  multiple,
});

describe("the report of a run", () => {
  let cleared: Reported;
  beforeAll(async () => {
    cleared = await recorded(0.9);
  });

  it.each([80, 100, 62])("fits %i columns and has no colour where there is no terminal", (columns) => {
    const lines = reportLines(screen(columns), cleared);
    const digest = cleared.artifact?.sha256 ?? "none";
    const wide = lines.filter((line) => line.length > columns && !line.includes(digest));
    // A table cannot be narrower than its figures.
    if (columns >= 80) expect(wide).toEqual([]);
    expect(lines.join("\n")).not.toContain("\u001b");
    for (const line of lines) expect(line).toBe(line.trimEnd());
  });

  it("says verdict, interval, buckets, domains, every arm, distances, cost and the mapper", () => {
    const text = reportLines(screen(80), cleared).join("\n");
    expect(text).toMatch(/^pilot -> target {2}CLEARED$/m);
    expect(text).toContain("Measured on a CPU: for development");
    expect(text).toMatch(/Cleared: retention 0\.\d{3} \(95 % interval/);
    expect(text).toMatch(
      /^ {2}gate split +0\.\d{3} +0\.\d{3} - 0\.\d{3} +0\.\d{3} +0\.\d{3} +0\.\d{3} +256$/m,
    );
    for (const part of ["report split", "chat", "code", "prose", "recall"])
      expect(text).toMatch(new RegExp(`^ +${part} +0`, "m"));
    for (const arm of ["this mapper", "identity", "self-map", "zero cache", "pilot alone", "plain ridge"])
      expect(text).toMatch(new RegExp(`^ {2}${arm} +[·─│●]+ +[01]\\.\\d{3}`, "m"));
    expect(text).toMatch(/prefix gain +0\.\d{3} of what a blind cache misses/);
    expect(text).toMatch(/KL +mean [\d.]+ nats, p95/);
    expect(text).toMatch(/held-out R2 +K 0\.\d{3} \(best single layer 0\.\d{3}\)/);
    expect(text).toMatch(/Pays from: \d+ tokens \(a transfer beats the target's\s+own\s+prefill/);
    expect(text).toContain(cleared.artifact?.sha256);
  });

  it("draws the gate where it is: the mapper's dot beyond it, the rivals' before it", () => {
    const lines = reportLines(screen(80), cleared);
    const track = (arm: string) => lines.find((line) => line.startsWith(`  ${arm} `)) ?? "";
    const gate = track("zero cache").indexOf("│");
    expect(track("this mapper").indexOf("●")).toBeGreaterThanOrEqual(gate);
    expect(track("pilot alone").indexOf("●")).toBeGreaterThanOrEqual(gate - 1);
    expect(track("zero cache").indexOf("●")).toBeLessThan(gate - 5);
  });

  it("below the gate says whether refitting helps, and what to do about each warning", async () => {
    const text = reportLines(screen(80), await recorded(0.999)).join("\n");
    expect(text).toMatch(/^pilot -> target {2}BELOW GATE$/m);
    expect(text).toMatch(/STRICTER_GATE: It clears the default gate of 0\.90/);
    const worse = await recorded(0.9, (counts) => ({
      ...counts,
      mapper: counts.mapper?.map((row) => ({ ...row, gold_gain: -1, native_gold_gain: 1 })),
    }));
    expect(reportLines(screen(80), worse).join("\n")).toMatch(/- NOT_ABOVE_PILOT: By the default routing/);
  });

  it("sets the rows beyond the fitted length apart", async () => {
    const reported = await recorded(0.9, (counts) => ({
      ...counts,
      mapper: [...(counts.mapper ?? []), ...(counts.mapper ?? []).slice(0, 16).map((row) => long(row, 32))],
    }));
    const text = reportLines(screen(80), reported).join("\n");
    expect(text).toMatch(/^ {2}32 x length +0\.\d{3}.+ 16$/m);
    expect(text).toContain("the gate never sees them");
    expect(reported.assessment.retention).toEqual(cleared.assessment.retention);
  });

  it("says of a failed control that no mapper was kept", async () => {
    const reported = await recorded(0.9, (counts) => ({ ...counts, identity: counts.zero_cache }));
    const text = reportLines(screen(80), { ...reported, artifact: null }).join("\n");
    expect(text).toMatch(/^pilot -> target {2}FAILED$/m);
    expect(text).toContain("None was kept");
  });
});

it("has a name for every method", () => {
  for (const [name, what] of Object.entries(METHODS)) {
    expect(name).toMatch(/^[a-z0-9][a-z0-9-]*$/);
    expect(what.length).toBeGreaterThan(10);
  }
});
