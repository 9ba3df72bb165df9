import { HelmError, ModelFacts, PairStatus } from "@helm/contracts";
import { judgeModel } from "@helm/pairing";
import { z } from "zod";
import { ScoreSummary } from "../calibration/schema";
import { readScoreSummaries, type ScoreOfList, withOrigin } from "../calibration/score-summary";
import type { Call, Context } from "../context";
import { type ActiveMapper, readActiveMappers } from "../mapper/active";
import { type PairRuns, readPairRuns } from "./runs";

export const PairOut = z.object({
  id: z.uuid(),
  name: z.string(),
  source: ModelFacts,
  target: ModelFacts,
  control: z.boolean(),
  /** Of both models; null where they are of none, as a control may be. */
  family: z.string().nullable(),
  status: PairStatus,
  /** The gate that holds for it: its own or the server's. */
  gate: z.number(),
  gateOn: z.enum(["lower", "point"]),
  /** Its own, where it has one. */
  ownGate: z.number().nullable(),
  serverGate: z.number(),
  /** The open run, shown as CALIBRATING beside the status. */
  calibrating: z.uuid().nullable(),
  active: ScoreSummary.extend({
    mapperId: z.uuid(),
    sha256: z.string(),
    bytes: z.number().int(),
    activatedAt: z.date().nullable(),
  }).nullable(),
  /** Of the newest run that has one; it may be below the gate while an older mapper stays active. */
  lastScore: ScoreSummary.nullable(),
  measuredAt: z.date().nullable(),
  attempts: z.number().int(),
  developmentOnly: z.boolean(),
  reverseId: z.uuid().nullable(),
  /** Of what an administrator edits of a pair: its gate. */
  revision: z.number().int(),
  createdAt: z.date(),
});
export type PairOut = z.infer<typeof PairOut>;

type PairRow = Awaited<ReturnType<Context["db"]["pair"]["findMany"]>>[number];

export async function listPairs(ctx: Context): Promise<PairOut[]> {
  const pairs = await ctx.db.pair.findMany({ orderBy: [{ control: "asc" }, { id: "asc" }] });
  return describePairs(ctx, pairs, pairs, await readActiveMappers(ctx.db));
}

export const GetPairInput = z.object({ id: z.uuid() });

export async function getPair({ ctx, input }: Call<z.infer<typeof GetPairInput>>): Promise<PairOut> {
  const pair = await ctx.db.pair.findUnique({ where: { id: input.id } });
  if (!pair) throw new HelmError("NOT_FOUND", "There is no such pair.");
  const reverse = await ctx.db.pair.findMany({ where: { sourceId: pair.targetId, targetId: pair.sourceId } });
  const [described] = await describePairs(ctx, [pair], reverse, await readActiveMappers(ctx.db, pair.id));
  return described as PairOut;
}

/** Of many pairs at once: a statement for each kind of thing, not for each pair. */
async function describePairs(
  ctx: Context,
  pairs: PairRow[],
  others: PairRow[],
  actives: ReadonlyMap<string, ActiveMapper>,
): Promise<PairOut[]> {
  const setting = await ctx.db.setting.findUniqueOrThrow({ where: { id: 1 } });
  const models = await readModels(ctx, pairs);
  const runs = await readPairRuns(
    ctx.db,
    pairs.map(({ id }) => id),
  );
  const shown = [...runs.values()].flatMap(({ scoredId }) => scoredId ?? []);
  const active = [...actives.values()].map(({ calibrationId }) => calibrationId);
  const scores = await readScoreSummaries(ctx.db, [...new Set([...shown, ...active])]);
  const byEnds = new Map(others.map((other) => [ends(other.sourceId, other.targetId), other.id]));
  return pairs.map((pair) =>
    pairOut(pair, {
      setting,
      source: models.get(pair.sourceId) as ModelShown,
      target: models.get(pair.targetId) as ModelShown,
      runs: runs.get(pair.id),
      mapper: actives.get(pair.id),
      scores,
      reverseId: byEnds.get(ends(pair.targetId, pair.sourceId)),
    }),
  );
}

function ends(sourceId: string, targetId: string): string {
  return `${sourceId} ${targetId}`;
}

interface ModelShown {
  name: string;
  facts: ModelFacts;
  family: string | null;
}

/** Each read once, however many pairs it is in. */
async function readModels(ctx: Context, pairs: PairRow[]): Promise<Map<string, ModelShown>> {
  const ids = new Set(pairs.flatMap(({ sourceId, targetId }) => [sourceId, targetId]));
  const rows = await ctx.db.model.findMany({ where: { id: { in: [...ids] } } });
  return new Map(
    rows.map((row) => {
      const facts = ModelFacts.parse(row.facts);
      return [row.id, { name: row.name, facts, family: judgeModel(facts).family }];
    }),
  );
}

interface Beside {
  setting: { gate: number; gateOn: "lower" | "point" };
  source: ModelShown;
  target: ModelShown;
  runs: PairRuns | undefined;
  mapper: ActiveMapper | undefined;
  scores: ReadonlyMap<string, ScoreOfList>;
  reverseId: string | undefined;
}

function pairOut(pair: PairRow, beside: Beside): PairOut {
  const { setting, source, target, runs, mapper, scores, reverseId } = beside;
  const lastScore = withOrigin(scores.get(runs?.scoredId ?? ""), runs?.scoredDevelopmentOnly ?? false);
  const activeScore = mapper && withOrigin(scores.get(mapper.calibrationId), mapper.developmentOnly);
  return {
    id: pair.id,
    name: `${source.name} -> ${target.name}`,
    source: source.facts,
    target: target.facts,
    control: pair.control,
    family: source.family === target.family ? source.family : null,
    status: pair.status,
    gate: pair.gate ?? setting.gate,
    gateOn: setting.gateOn,
    ownGate: pair.gate,
    serverGate: setting.gate,
    calibrating: runs?.openId ?? null,
    active:
      mapper && activeScore
        ? {
            ...activeScore,
            mapperId: mapper.id,
            sha256: mapper.sha256,
            bytes: mapper.bytes,
            activatedAt: mapper.activatedAt,
          }
        : null,
    lastScore,
    measuredAt: lastScore?.measuredAt ?? null,
    attempts: runs?.runs ?? 0,
    developmentOnly: pair.control || (mapper?.developmentOnly ?? lastScore?.developmentOnly ?? false),
    reverseId: reverseId === pair.id ? null : (reverseId ?? null),
    revision: pair.revision,
    createdAt: pair.createdAt,
  };
}
