import { CalibrationState, CorpusFacts, HelmError, LayerFit, Verdict } from "@helm/contracts";
import { Prisma } from "@helm/db";
import { z } from "zod";
import type { Call, Context } from "../context";
import { databaseNow } from "../database-clock";
import { readDistinct } from "../distinct-values";
import { calibrationPage, calibrationRow, forPage, forRow, type ReadAt } from "./read";
import { CalibrationRow } from "./schema";
import { readScoreSummaries } from "./score-summary";

export const ListCalibrationsInput = z
  .object({
    pairId: z.uuid().optional(),
    states: z.array(CalibrationState).min(1).optional(),
    verdict: Verdict.optional(),
    /** Who started it, as written in the row. */
    startedBy: z.string().max(200).optional(),
    /** Created at or after, and before. */
    since: z.date().optional(),
    until: z.date().optional(),
    cursor: z.uuid().nullish(),
    limit: z.number().int().min(1).max(100).default(25),
  })
  .default({ limit: 25 });
export const ListCalibrationsOutput = z.object({
  rows: z.array(CalibrationRow),
  nextCursor: z.uuid().nullable(),
});

async function readAt(ctx: Context): Promise<ReadAt> {
  return { now: await databaseNow(ctx.db), cancelForceMs: ctx.services.config.cancelForceMs };
}

/** Newest first by creation: an imported run's id is younger than the run. The cursor is the last row's id. */
export async function listCalibrations({ ctx, input }: Call<z.infer<typeof ListCalibrationsInput>>) {
  const { pairId, states, verdict, startedBy, since, until, cursor } = input;
  const last = cursor
    ? await ctx.db.calibration.findUnique({ where: { id: cursor }, select: { id: true, createdAt: true } })
    : null;
  if (cursor && !last) return { rows: [], nextCursor: null };
  const found = await ctx.db.calibration.findMany({
    where: {
      pairId,
      verdict,
      startedBy,
      ...(states ? { state: { in: states } } : {}),
      AND: [{ createdAt: { gte: since, lt: until } }, after(last)],
    },
    include: forRow,
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
    take: input.limit + 1,
  });
  const at = await readAt(ctx);
  const page = found.slice(0, input.limit);
  const scores = await readScoreSummaries(
    ctx.db,
    page.map(({ id }) => id),
  );
  const rows = page.map((row) => calibrationRow(row, scores.get(row.id), at));
  return { rows, nextCursor: found.length > input.limit ? (rows.at(-1)?.id ?? null) : null };
}

function after(last: { id: string; createdAt: Date } | null): Prisma.CalibrationWhereInput {
  if (!last) return {};
  const { id, createdAt } = last;
  return { createdAt: { lte: createdAt }, OR: [{ createdAt: { lt: createdAt } }, { id: { lt: id } }] };
}

/** Everyone who ever started one, for the filter. */
export function listStarters({ db }: Context): Promise<string[]> {
  return readDistinct(db, Prisma.sql`"calibration"`, Prisma.sql`"started_by"`);
}

export const GetCalibrationInput = z.object({ id: z.uuid() });

export async function getCalibration({ ctx, input }: Call<z.infer<typeof GetCalibrationInput>>) {
  const found = await ctx.db.calibration.findUnique({ where: { id: input.id }, include: forPage });
  if (!found) throw new HelmError("NOT_FOUND", "There is no such calibration.");
  const beside = {
    fit: await layerFits(ctx, found),
    gateLooks: await gateLooks(ctx, found),
    corpusUsed: await corpusUsed(ctx, found),
  };
  return calibrationPage(found, beside, await readAt(ctx));
}

/** From the newest attempt's first event: digests, commit and what should be known of it. */
async function corpusUsed(
  ctx: Context,
  { attempts }: { attempts: { id: string }[] },
): Promise<CorpusFacts | null> {
  const attemptId = attempts.at(-1)?.id;
  if (!attemptId) return null;
  const started = await ctx.db.calibrationEvent.findFirst({ where: { attemptId, type: "started" } });
  return z.object({ corpus: CorpusFacts }).safeParse(started?.body).data?.corpus ?? null;
}

/** From the newest attempt's own events; a body that is none is left out. */
async function layerFits(ctx: Context, { attempts }: { attempts: { id: string }[] }): Promise<LayerFit[]> {
  const attemptId = attempts.at(-1)?.id;
  if (!attemptId) return [];
  const metrics = await ctx.db.calibrationEvent.findMany({
    where: { attemptId, type: "metric", body: { path: ["name"], equals: "layer_fit" } },
    orderBy: { seq: "asc" },
  });
  return metrics.flatMap(({ body }) => LayerFit.safeParse(body).data ?? []);
}

/**
 * Gate probes are fixed for a pair revision: both models' weights and tokenizers, and the probe corpus. Every scored run
 * of the same revision has looked at them once more. An older run named no digest of its probes: its corpus stands for it.
 */
async function gateLooks(ctx: Context, run: { id: string; score: object | null }): Promise<number> {
  if (!run.score) return 0;
  const [found] = await ctx.db.$queryRaw<{ looks: number }[]>`
    WITH looked AS (
      SELECT c."id", c."pair_id", s."created_at",
        jsonb_build_array(
          COALESCE(e."body" #> '{corpus,probes_sha256}', e."body" #> '{corpus,sha256}', to_jsonb(c."corpus")),
          e."body" #> '{pair,source,weights_sha256}', e."body" #> '{pair,source,tokenizer}',
          e."body" #> '{pair,target,weights_sha256}', e."body" #> '{pair,target,tokenizer}'
        ) AS revision
      FROM "calibration" c
      JOIN "score" s ON s."calibration_id" = c."id"
      LEFT JOIN "calibration_attempt" a ON a."calibration_id" = c."id" AND a."number" = c."attempt"
      LEFT JOIN "calibration_event" e ON e."attempt_id" = a."id" AND e."type" = 'started'
      WHERE c."pair_id" = (SELECT "pair_id" FROM "calibration" WHERE "id" = ${run.id}::uuid)
    )
    SELECT count(DISTINCT o."id")::int AS looks FROM looked o, looked mine
    WHERE mine."id" = ${run.id}::uuid AND o."revision" = mine."revision" AND o."created_at" <= mine."created_at"`;
  return found?.looks ?? 0;
}

export const CalibrationEventsInput = z.object({
  id: z.uuid(),
  /** Default: the newest attempt. */
  attempt: z.number().int().min(1).optional(),
  afterSeq: z.number().int().min(0).default(0),
  limit: z.number().int().min(1).max(1000).default(500),
});
export const CalibrationEventsOutput = z.object({
  attempt: z.number().int(),
  lastSeq: z.number().int(),
  events: z.array(
    z.object({
      seq: z.number().int(),
      type: z.string(),
      at: z.date(),
      body: z.record(z.string(), z.unknown()),
    }),
  ),
});

/** The backlog since a number; sequence numbers start again with each attempt. */
export async function listCalibrationEvents({ ctx, input }: Call<z.infer<typeof CalibrationEventsInput>>) {
  const attempt = await ctx.db.calibrationAttempt.findFirst({
    where: { calibrationId: input.id, number: input.attempt },
    orderBy: { number: "desc" },
  });
  if (!attempt) return { attempt: 0, lastSeq: 0, events: [] };
  const events = await ctx.db.calibrationEvent.findMany({
    where: { attemptId: attempt.id, seq: { gt: input.afterSeq } },
    orderBy: { seq: "asc" },
    take: input.limit,
  });
  return {
    attempt: attempt.number,
    lastSeq: attempt.lastSeq,
    events: events.map(({ seq, type, at, body }) => ({
      seq,
      type,
      at,
      // Answers for a judge are a megabyte that no page draws.
      body: type === "judge_rows" ? {} : (body as Record<string, unknown>),
    })),
  };
}
