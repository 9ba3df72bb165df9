import { MethodChoice, ModelFacts } from "@helm/contracts";
import { checkPair, DEFAULT_METHOD, judgeModel, mapperSize, type WeightType } from "@helm/pairing";
import { z } from "zod";
import type { Context } from "../context";
import { listWorkers } from "../host/list";
import { readActiveMappers } from "../mapper/active";
import { countFiles, type PairFiles, readPairFiles } from "../mapper/files";

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
  /** All files of the pair's mappers that lie there, of retired ones too. */
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

type Direction = z.infer<typeof DirectionOut>;

/** What the mappers take, and what one for each direction between all known models would take. */
export async function readStorage(ctx: Context): Promise<StorageOut> {
  const found = await ctx.db.model.findMany({ orderBy: { name: "asc" } });
  const models = found.map(({ id, facts }) => ({ id, facts: ModelFacts.parse(facts) }));
  const pairs = await ctx.db.pair.findMany({ select: { id: true, sourceId: true, targetId: true } });
  const byDirection = new Map(pairs.map((pair) => [`${pair.sourceId} ${pair.targetId}`, pair.id]));
  const files = await readPairFiles(ctx.db);
  const active = await readActiveMappers(ctx.db);
  const weights = await weightsOfFleet(ctx);
  const directions = models.flatMap((source) =>
    models
      .filter((target) => target.id !== source.id)
      .map((target) => {
        const pairId = byDirection.get(`${source.id} ${target.id}`) ?? null;
        return direction(source.facts, target.facts, pairId, files.get(pairId ?? ""), weights);
      }),
  );
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
      mappers: [...files.values()].reduce((sum, { mappers }) => sum + mappers, 0),
      ...(await countFiles(ctx.db)),
    },
    activeBytes: [...active.values()].reduce((sum, { bytes }) => sum + bytes, 0),
    assumed: { method: DEFAULT_METHOD, k: K, weights },
  };
}

function direction(
  source: ModelFacts,
  target: ModelFacts,
  pairId: string | null,
  files: PairFiles | undefined,
  weights: WeightType,
): Direction {
  const check = checkPair(source, target, { requireTokenizer: true });
  const base = {
    source: source.id,
    target: target.id,
    family: check.family,
    pairId,
    causes: check.causes.map(({ cause, sentence }) => ({ cause, sentence })),
    held: { mappers: files?.mappers ?? 0, bytes: files?.bytes ?? 0 },
  };
  if (files) {
    const { active, method, k, bytes } = files.shown;
    const which = active ? "the active mapper's file" : "the newest mapper's file";
    return { ...base, bytes, basis: "measured", how: `${which}, method ${method}, k ${k}` };
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
