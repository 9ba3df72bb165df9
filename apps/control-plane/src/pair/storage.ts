import { MethodChoice, ModelFacts } from "@helm/contracts";
import type { Prisma } from "@helm/db";
import { checkPair, DEFAULT_METHOD, judgeModel, mapperSize, type WeightType } from "@helm/pairing";
import { z } from "zod";
import type { Context } from "../context";
import { listWorkers } from "../host/list";

const K = 4;

export const DirectionOut = z.object({
  source: z.string(),
  target: z.string(),
  family: z.string().nullable(),
  pairId: z.uuid().nullable(),
  /** All causes that forbid it, as a registration would name them; empty where it may be a pair. */
  causes: z.array(z.object({ cause: z.string(), sentence: z.string() })),
  /** What one mapper takes: the file of the active one, else of the newest; computed where there is none. */
  bytes: z.number().int().nullable(),
  basis: z.enum(["measured", "computed", "unknown", "impossible"]),
  how: z.string(),
  /** All files of the pair's mappers, retired ones too. */
  held: z.object({ mappers: z.number().int(), bytes: z.number().int() }),
});
export const StorageOut = z.object({
  models: z.array(z.object({ id: z.string(), family: z.string().nullable() })),
  /** Every ordered pair of two different models: n (n - 1). */
  directions: z.array(DirectionOut),
  /** One mapper a direction; `missing` are possible ones whose size no known fact tells. */
  all: z.object({
    possible: z.number().int(),
    impossible: z.number().int(),
    measured: z.number().int(),
    computed: z.number().int(),
    missing: z.number().int(),
    bytes: z.number().int(),
  }),
  /** Files that lie there now: one that two mappers name lies there once. */
  held: z.object({ mappers: z.number().int(), files: z.number().int(), bytes: z.number().int() }),
  activeBytes: z.number().int(),
  assumed: z.object({ method: z.string(), k: z.number().int(), weights: z.enum(["float32", "bfloat16"]) }),
});
export type StorageOut = z.infer<typeof StorageOut>;

const withMappers = {
  mappers: {
    select: {
      state: true,
      sha256: true,
      artifact: { select: { bytes: true } },
      calibration: { select: { method: true, k: true, developmentOnly: true } },
    },
    orderBy: { id: "desc" },
  },
} satisfies Prisma.PairInclude;
type PairFound = Prisma.PairGetPayload<{ include: typeof withMappers }>;
type Direction = z.infer<typeof DirectionOut>;

/** What the mappers take, and what one for each direction between all known models would take. */
export async function readStorage(ctx: Context): Promise<StorageOut> {
  const found = await ctx.db.model.findMany({ orderBy: { name: "asc" } });
  const models = found.map(({ id, facts }) => ({ id, facts: ModelFacts.parse(facts) }));
  const pairs = await ctx.db.pair.findMany({ include: withMappers });
  const byDirection = new Map(pairs.map((pair) => [`${pair.sourceId} ${pair.targetId}`, pair]));
  const weights = await weightsOfFleet(ctx);
  const directions = models.flatMap((source) =>
    models
      .filter((target) => target.id !== source.id)
      .map((target) =>
        direction(source.facts, target.facts, byDirection.get(`${source.id} ${target.id}`) ?? null, weights),
      ),
  );
  const files = new Map(
    pairs.flatMap(({ mappers }) => mappers.map((one) => [one.sha256, one.artifact.bytes])),
  );
  const active = pairs.flatMap(({ mappers }) => mappers.filter(({ state }) => state === "ACTIVE"));
  const count = (basis: Direction["basis"]) => directions.filter((one) => one.basis === basis).length;
  return {
    models: models.map(({ facts }) => ({ id: facts.id, family: judgeModel(facts).family })),
    directions,
    all: {
      possible: directions.length - count("impossible"),
      impossible: count("impossible"),
      measured: count("measured"),
      computed: count("computed"),
      missing: count("unknown"),
      bytes: directions.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0),
    },
    held: {
      mappers: pairs.reduce((sum, { mappers }) => sum + mappers.length, 0),
      files: files.size,
      bytes: [...files.values()].reduce((sum, bytes) => sum + Number(bytes), 0),
    },
    activeBytes: active.reduce((sum, { artifact }) => sum + Number(artifact.bytes), 0),
    assumed: { method: DEFAULT_METHOD, k: K, weights },
  };
}

function direction(
  source: ModelFacts,
  target: ModelFacts,
  pair: PairFound | null,
  weights: WeightType,
): Direction {
  const check = checkPair(source, target, { requireTokenizer: true });
  const mappers = pair?.mappers ?? [];
  const base = {
    source: source.id,
    target: target.id,
    family: check.family,
    pairId: pair?.id ?? null,
    causes: check.causes.map(({ cause, sentence }) => ({ cause, sentence })),
    held: {
      mappers: mappers.length,
      bytes: mappers.reduce((sum, { artifact }) => sum + Number(artifact.bytes), 0),
    },
  };
  const measured = mappers.find(({ state }) => state === "ACTIVE") ?? mappers[0];
  if (measured) {
    const { method, k } = measured.calibration;
    const which = measured.state === "ACTIVE" ? "the active mapper's file" : "the newest mapper's file";
    const how = `${which}, method ${method}, k ${k}`;
    return { ...base, bytes: Number(measured.artifact.bytes), basis: "measured", how };
  }
  if (!check.ok) return { ...base, bytes: null, basis: "impossible", how: "cannot be a pair" };
  const method = MethodChoice.parse(DEFAULT_METHOD);
  const size = mapperSize(source, target, { method, k: K, weights });
  if (!size)
    return { ...base, bytes: null, basis: "unknown", how: "a fact that the formula takes is not known" };
  return { ...base, bytes: size.bytes, basis: "computed", how: size.how };
}

/** A CPU's run keeps float32; where any worker has an accelerator, it is the one that will be asked. */
async function weightsOfFleet(ctx: Context): Promise<WeightType> {
  const workers = await listWorkers(ctx);
  const connected = workers.filter((worker) => worker.connected);
  return connected.length > 0 && connected.every((worker) => worker.development) ? "float32" : "bfloat16";
}
