import { z } from "zod";
import type { Call, Context } from "../context";
import { readActiveMappers } from "../mapper/active";
import { readPairRuns } from "../pair/runs";
import { refusalOf } from "../snapshot/compile-routing";
import { UpdateSettingInput } from "./update";

export const PreviewSettingInput = UpdateSettingInput.omit({ revision: true });
export const PreviewSettingOutput = z.object({
  sentences: z.array(z.string()),
  /** Measured pairs that would be judged otherwise, were they judged again today. */
  pairs: z.array(z.object({ id: z.uuid(), name: z.string(), sentence: z.string() })),
});

type Input = z.infer<typeof PreviewSettingInput>;
type Changed = z.infer<typeof PreviewSettingOutput>["pairs"];

/**
 * What storing this would do. A gate changes no verdict that stands: a mapper that serves goes on until a run under the new
 * gate, or an administrator, takes it out; so the pairs that would not clear it any more are named.
 */
export async function previewSetting({
  ctx,
  input,
}: Call<Input>): Promise<z.infer<typeof PreviewSettingOutput>> {
  const now = await ctx.db.setting.findUniqueOrThrow({ where: { id: 1 } });
  const next = { ...now, ...input };
  const sentences: string[] = [];
  const pairs: Changed = [];
  if (next.gate !== now.gate || next.gateOn !== now.gateOn) {
    pairs.push(...(await judgedOtherwise(ctx, next)));
    sentences.push(
      `Runs that finish from now on need ${next.gate.toFixed(2)} on the ${next.gateOn === "lower" ? "lower bound" : "point value"}. Verdicts that stand keep the gate they were computed with, and an active mapper goes on serving.`,
      pairs.length === 0
        ? "No measured pair would be judged otherwise."
        : `${pairs.length} measured ${pairs.length === 1 ? "pair" : "pairs"} would be judged otherwise; calibrate again to have the new verdict, or retire a mapper to take it out of service now.`,
    );
  }
  if (next.requireBeatsPilot !== now.requireBeatsPilot) {
    const moved = await movedByPolicy(ctx, next.requireBeatsPilot);
    const what = next.requireBeatsPilot ? "stops being used (NOT_ABOVE_PILOT)" : "is used from now on";
    sentences.push(
      moved.length === 0
        ? "No pair starts or stops being used by this policy today."
        : `At once, as a new generation: ${moved.join(", ")} ${moved.length === 1 ? what : what.replace(/^stops/, "stop").replace(/^is/, "are")}.`,
    );
  }
  if (next.helmOffAfterS !== now.helmOffAfterS)
    sentences.push(
      `A node that hears nothing for ${span(next.helmOffAfterS)} stops using Helm; it was ${span(now.helmOffAfterS)}.`,
    );
  if (next.refuseKeysAfterS !== now.refuseKeysAfterS)
    sentences.push(
      `A node that hears nothing for ${span(next.refuseKeysAfterS)} refuses every key; it was ${span(now.refuseKeysAfterS)}.`,
    );
  if (next.traceRate !== now.traceRate)
    sentences.push(
      `Nodes send the traces of ${percent(next.traceRate)} of ordinary requests; it was ${percent(now.traceRate)}. Fallbacks, refusals and errors are sent as before.`,
    );
  if (next.traceDays !== now.traceDays)
    sentences.push(
      `Traces are kept for ${span(next.traceDays * 86_400)}; it was ${span(now.traceDays * 86_400)}. Older ones are deleted within a minute and do not come back.`,
    );
  if (next.traceTextHours !== now.traceTextHours)
    sentences.push(
      `Prompts and answers in traces are kept for ${span(next.traceTextHours * 3_600)}; it was ${span(now.traceTextHours * 3_600)}.`,
    );
  if (next.refuseKeysAfterS < next.helmOffAfterS)
    sentences.push("This is refused: keys cannot be refused before Helm goes off.");
  return { sentences: sentences.length > 0 ? sentences : ["Nothing: this is what stands already."], pairs };
}

async function judgedOtherwise(
  ctx: Context,
  next: { gate: number; gateOn: "lower" | "point" },
): Promise<Changed> {
  const name = { select: { name: true } } as const;
  const found = await ctx.db.pair.findMany({
    include: { source: name, target: name },
    orderBy: { id: "asc" },
  });
  const actives = await readActiveMappers(ctx.db);
  const runs = await readPairRuns(
    ctx.db,
    found.map(({ id }) => id),
  );
  const measuredBy = (id: string) => actives.get(id)?.calibrationId ?? runs.get(id)?.scoredId ?? null;
  const scores = await ctx.db.score.findMany({
    where: { calibrationId: { in: found.flatMap(({ id }) => measuredBy(id) ?? []) } },
    omit: { assessment: true, scores: true, cost: true },
  });
  const byRun = new Map(scores.map((score) => [score.calibrationId, score]));
  return found.flatMap((pair) => {
    const active = actives.get(pair.id);
    const measured = byRun.get(measuredBy(pair.id) ?? "");
    if (!measured?.verdict) return [];
    const gate = pair.gate ?? next.gate;
    const value = next.gateOn === "lower" ? measured.retentionLow : measured.retention;
    const would = value >= gate ? "CLEARED" : "BELOW_GATE";
    if (would === measured.verdict) return [];
    const fate = active
      ? "its mapper goes on serving until it is retired"
      : "its mapper stays out until a new run";
    return [
      {
        id: pair.id,
        name: `${pair.source.name} -> ${pair.target.name}`,
        sentence: `${measured.verdict} at ${value.toFixed(3)} under a gate of ${measured.gate.toFixed(2)}; judged again under ${gate.toFixed(2)} it would be ${would}: ${fate}.`,
      },
    ];
  });
}

/** Pairs whose use depends on the policy alone. */
async function movedByPolicy(ctx: Context, required: boolean): Promise<string[]> {
  const name = { select: { name: true } } as const;
  const pairs = await ctx.db.pair.findMany({
    include: {
      source: name,
      target: name,
    },
  });
  const actives = await readActiveMappers(ctx.db);
  return pairs
    .filter((pair) => {
      const mapper = actives.get(pair.id) ?? null;
      const under = (policy: boolean) => refusalOf(pair.status, mapper, pair.control, policy);
      return under(required) !== under(!required);
    })
    .map((pair) => `${pair.source.name} -> ${pair.target.name}`);
}

function percent(share: number): string {
  return `${Math.round(share * 10_000) / 100} %`;
}

function span(seconds: number): string {
  const [value, unit] = seconds % 86_400 === 0 ? [seconds / 86_400, "day"] : [seconds / 3600, "hour"];
  return `${Number(value.toFixed(1))} ${unit}${value === 1 ? "" : "s"}`;
}
