import { HelmError, ModelFacts, PairStatus } from "@helm/contracts";
import type { Prisma } from "@helm/db";
import { judgeModel } from "@helm/pairing";
import { z } from "zod";
import { scoreSummary } from "../calibration/read";
import { ScoreSummary } from "../calibration/schema";
import type { Call, Context } from "../context";

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

const forPair = {
  source: true,
  target: true,
  mappers: {
    where: { state: "ACTIVE" },
    include: { artifact: true, calibration: { include: { score: true } } },
  },
  calibrations: {
    where: { OR: [{ state: { in: ["QUEUED", "RUNNING"] } }, { score: { isNot: null } }] },
    include: { score: true },
    orderBy: { id: "desc" },
    take: 2,
  },
  _count: { select: { calibrations: true } },
} satisfies Prisma.PairInclude;

type PairFound = Prisma.PairGetPayload<{ include: typeof forPair }>;

export async function listPairs(ctx: Context): Promise<PairOut[]> {
  const setting = await ctx.db.setting.findUniqueOrThrow({ where: { id: 1 } });
  const pairs = await ctx.db.pair.findMany({
    include: forPair,
    orderBy: [{ control: "asc" }, { id: "asc" }],
  });
  return pairs.map((pair) => pairOut(pair, setting, pairs));
}

export const GetPairInput = z.object({ id: z.uuid() });

export async function getPair({ ctx, input }: Call<z.infer<typeof GetPairInput>>): Promise<PairOut> {
  const pair = await ctx.db.pair.findUnique({ where: { id: input.id }, include: forPair });
  if (!pair) throw new HelmError("NOT_FOUND", "There is no such pair.");
  const setting = await ctx.db.setting.findUniqueOrThrow({ where: { id: 1 } });
  const reverse = await ctx.db.pair.findMany({ where: { sourceId: pair.targetId, targetId: pair.sourceId } });
  return pairOut(pair, setting, reverse);
}

function pairOut(
  pair: PairFound,
  setting: { gate: number; gateOn: "lower" | "point" },
  others: { id: string; sourceId: string; targetId: string }[],
): PairOut {
  const open = pair.calibrations.find((run) => run.state === "QUEUED" || run.state === "RUNNING");
  const scored = pair.calibrations.find((run) => run.score !== null);
  const mapper = pair.mappers[0];
  const mapperScore = mapper?.calibration.score;
  const lastScore = scored?.score ? scoreSummary(scored.score, scored.developmentOnly) : null;
  const reverse = others.find(
    (other) => other.sourceId === pair.targetId && other.targetId === pair.sourceId && other.id !== pair.id,
  );
  return {
    id: pair.id,
    name: `${pair.source.name} -> ${pair.target.name}`,
    source: ModelFacts.parse(pair.source.facts),
    target: ModelFacts.parse(pair.target.facts),
    control: pair.control,
    family: familyOf(pair),
    status: pair.status,
    gate: pair.gate ?? setting.gate,
    gateOn: setting.gateOn,
    ownGate: pair.gate,
    serverGate: setting.gate,
    calibrating: open?.id ?? null,
    active:
      mapper && mapperScore
        ? {
            ...scoreSummary(mapperScore, mapper.developmentOnly),
            mapperId: mapper.id,
            sha256: mapper.sha256,
            bytes: Number(mapper.artifact.bytes),
            activatedAt: mapper.activatedAt,
          }
        : null,
    lastScore,
    measuredAt: lastScore?.measuredAt ?? null,
    attempts: pair._count.calibrations,
    developmentOnly: pair.control || (mapper?.developmentOnly ?? lastScore?.developmentOnly ?? false),
    reverseId: reverse?.id ?? null,
    revision: pair.revision,
    createdAt: pair.createdAt,
  };
}

function familyOf({ source, target }: PairFound): string | null {
  const [from, to] = [source, target].map(({ facts }) => judgeModel(ModelFacts.parse(facts)).family);
  return from === to ? (from ?? null) : null;
}
