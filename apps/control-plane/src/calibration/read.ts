import {
  Assessment,
  CalibrationOptions,
  CalibrationScores,
  type CorpusFacts,
  CostPoint,
  type LayerFit,
} from "@helm/contracts";
import type { Prisma } from "@helm/db";
import { breakEvenOf } from "@helm/pairing";
import { z } from "zod";
import { later } from "../database-clock";
import type { CalibrationOut, CalibrationRow } from "./schema";
import { type ScoreOfList, withOrigin } from "./score-summary";
import { isOpen } from "./states";

const Cost = z.array(CostPoint);

export const forRow = {
  pair: {
    select: { control: true, source: { select: { name: true } }, target: { select: { name: true } } },
  },
  mapper: { select: { id: true, sha256: true } },
} satisfies Prisma.CalibrationInclude;

export const forPage = {
  ...forRow,
  score: true,
  attempts: { include: { worker: { select: { name: true } } }, orderBy: { number: "asc" } },
} satisfies Prisma.CalibrationInclude;

type RowFound = Prisma.CalibrationGetPayload<{ include: typeof forRow }>;
type PageFound = Prisma.CalibrationGetPayload<{ include: typeof forPage }>;

/** What a row's countdowns are counted from. */
export interface ReadAt {
  /** Of the database. */
  now: Date;
  cancelForceMs: number;
}

function forcedIn(found: RowFound, { now, cancelForceMs }: ReadAt): number | null {
  if (found.state !== "RUNNING" || !found.cancelRequestedAt) return null;
  return Math.max(0, later(found.cancelRequestedAt, cancelForceMs).getTime() - now.getTime());
}

export function calibrationRow(found: RowFound, score: ScoreOfList | undefined, at: ReadAt): CalibrationRow {
  return {
    id: found.id,
    pairId: found.pairId,
    pairName: `${found.pair.source.name} -> ${found.pair.target.name}`,
    sourceModel: found.pair.source.name,
    targetModel: found.pair.target.name,
    control: found.pair.control,
    state: found.state,
    attempt: found.attempt,
    stage: found.stage,
    percent: found.percent,
    rate: found.rate,
    unit: found.unit,
    lastSeq: found.lastSeq,
    lastUpdateAt: found.lastUpdateAt,
    // While it runs: its mapper is fitted and cannot be stored.
    waitingReason: isOpen(found.state) ? found.waitingReason : null,
    waitingSince: found.state === "QUEUED" ? found.waitingSince : null,
    cancelRequested: found.cancelRequestedAt !== null,
    cancelForcedInMs: forcedIn(found, at),
    cancelRequestedAt: found.cancelRequestedAt,
    startedBy: found.startedBy,
    imported: found.imported,
    createdAt: found.createdAt,
    startedAt: found.startedAt,
    finishedAt: found.finishedAt,
    method: found.method,
    k: found.k,
    device: found.device,
    room: found.room,
    corpus: found.corpus,
    options: CalibrationOptions.catch({}).parse(found.options),
    developmentOnly: found.developmentOnly,
    verdict: found.verdict,
    error: found.errorCode
      ? { code: found.errorCode, message: found.errorMessage ?? "", exitCode: found.exitCode }
      : null,
    mapperId: found.mapper?.id ?? null,
    mapperSha256: found.mapper?.sha256 ?? null,
    score: withOrigin(score, found.developmentOnly),
  };
}

/** What a run's page shows beside its own row. */
export interface Beside {
  fit: LayerFit[];
  gateLooks: number;
  corpusUsed: CorpusFacts | null;
}

export function calibrationPage(found: PageFound, beside: Beside, at: ReadAt): CalibrationOut {
  const { score: _, ...row } = calibrationRow(found, undefined, at);
  const cost = found.score ? Cost.parse(found.score.cost) : null;
  return {
    ...row,
    attempts: found.attempts.map((attempt) => ({
      id: attempt.id,
      number: attempt.number,
      state: attempt.state,
      worker: attempt.worker.name,
      startedAt: attempt.startedAt,
      finishedAt: attempt.finishedAt,
      error: attempt.errorCode ? { code: attempt.errorCode, message: attempt.errorMessage ?? "" } : null,
    })),
    assessment: found.score ? Assessment.parse(found.score.assessment) : null,
    scores: found.score ? CalibrationScores.parse(found.score.scores) : null,
    cost,
    breakEven: cost ? breakEvenOf(cost) : null,
    ...beside,
  };
}
