import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { fitTable } from "@helm/cascade";
import type { ArmName, SequenceCounts } from "@helm/contracts";
import { assess } from "@helm/pairing";
import { describe, expect, it } from "vitest";
import { type RecordedRun, readRecordedRun } from "./recorded-run";

const SEEDS = resolve(import.meta.dirname, "../../../../prisma/seeds");
const DEFAULT_GATE = 0.9;

async function recorded(scenario: string): Promise<RecordedRun> {
  const run = await readRecordedRun(SEEDS, scenario);
  if (!run) throw new Error(`no recorded run ${scenario}`);
  return run;
}

function assessed(run: RecordedRun, gate: number) {
  const counts: Partial<Record<ArmName, SequenceCounts[]>> = {};
  for (const event of run.events) {
    if (event.type === "counts") counts[event.arm] = [...(counts[event.arm] ?? []), ...event.sequences];
  }
  const { method } = run.started;
  return assess({ counts, gate, gateOn: "lower", control: false, method, dtype: "float32" });
}

/** The seed scenarios are what real runs on the bundled weights wrote; these are the verdicts they lead to. */
describe("the recorded runs", () => {
  it.each(["cleared", "below-stricter-gate"])(
    "%s carries the mapper that its run names",
    async (scenario) => {
      const run = await recorded(scenario);
      const hash = createHash("sha256");
      for await (const chunk of run.readMapper()) hash.update(chunk);
      expect(hash.digest("hex")).toBe(run.result.artifact.sha256);
    },
  );

  it("clear the default gate on the bundled pair, above the pilot and far above a zero cache", async () => {
    const run = await recorded("cleared");
    const score = assessed(run, DEFAULT_GATE);
    expect(run).toMatchObject({ source: "pilot", target: "target" });
    expect(run.gate).toBeUndefined();
    expect(score).toMatchObject({ verdict: "CLEARED", failure: null, warnings: [] });
    expect(score.arms.zero_cache?.high).toBeLessThan(score.retention.low);
  });

  it("miss the stricter gate of the reverse pair, which the default gate would have let through", async () => {
    const run = await recorded("below-stricter-gate");
    expect(run).toMatchObject({ source: "target", target: "pilot", gate: 0.98 });
    expect(assessed(run, run.gate ?? DEFAULT_GATE)).toMatchObject({ verdict: "BELOW_GATE", failure: null });
    expect(assessed(run, DEFAULT_GATE).verdict).toBe("CLEARED");
  });

  it("bring the answers that a first judge's tables are fitted on, of the very probes that were scored", async () => {
    const { events } = await recorded("cleared");
    const rows = events.flatMap((event) => (event.type === "judge_rows" ? event.rows : []));
    const probes = new Map<string, Set<number>>();
    for (const event of events)
      if (event.type === "counts" && event.arm === "mapper")
        for (const { id, prefixes, split } of event.sequences)
          if (split !== "long") probes.set(id, new Set([...(probes.get(id) ?? []), ...prefixes]));
    expect(rows.length).toBeGreaterThan(1_000);
    for (const { id, group } of rows) expect(probes.get(group)).toContain(Number(id.split("@").at(-1)));
    const fitted = fitTable(rows, { streaming: "window", window: 64, label: "target_differs" });
    expect(fitted.ok && fitted.table.held_out.auc).toBeGreaterThan(0.9);
  });
});
