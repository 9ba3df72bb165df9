import {
  type CalibrationEvent,
  type CalibrationUpdate,
  type EventAck,
  type EventBatch,
  eventLine,
} from "@helm/contracts";
import type { Prisma } from "@helm/db";
import type { Call, Context } from "../context";
import { holdLease } from "./lease";

type Numbered = EventBatch["events"][number];

/** Rows first, then the room of that run. Repeated events are dropped, a gap is refused with the last number we have. */
export async function appendEvents({ ctx, input }: Call<EventBatch>): Promise<EventAck> {
  const { calibration, attempt, now } = await holdLease(ctx, input.job, input.attempt);
  const fresh = input.events.filter(({ seq }) => seq > attempt.lastSeq);
  if (fresh.length === 0) return { ok: true, last_seq: attempt.lastSeq };
  if (fresh.some(({ seq }, i) => seq !== attempt.lastSeq + 1 + i))
    return { ok: false, last_seq: attempt.lastSeq, code: "GAP" };
  const lastSeq = attempt.lastSeq + fresh.length;
  const clock = clockOf(input.sent_at, now);
  await ctx.db.calibrationEvent.createMany({
    data: fresh.map((numbered) => eventRow(attempt.id, numbered, clock)),
  });
  await storeCounts(ctx, attempt.id, fresh);
  await ctx.db.calibrationAttempt.update({ where: { id: attempt.id }, data: { lastSeq } });
  const progress = foldProgress(calibration, fresh);
  const after = await ctx.db.calibration.update({
    where: { id: calibration.id },
    data: { ...progress, lastSeq, lastUpdateAt: now },
  });
  const update: CalibrationUpdate = {
    calibration: after.id,
    attempt: attempt.number,
    last_seq: lastSeq,
    after_seq: attempt.lastSeq,
    state: after.state,
    stage: after.stage,
    percent: after.percent,
    rate: after.rate,
    unit: after.unit,
    lines: fresh.flatMap(({ seq, event }) => {
      const line = eventLine(event.type, event);
      return line ? [{ seq, at: whenOf(event.at, clock).toISOString(), ...line }] : [];
    }),
  };
  ctx.afterCommit(() => ctx.services.hub.updateCalibration(update));
  return { ok: true, last_seq: lastSeq };
}

interface WorkerClock {
  /** How far the worker's clock is ahead of the database's; 0 where it is right or has not said its time. */
  aheadMs: number;
  now: Date;
}

/** Delay on the way looks like a clock that is behind, so small differences are no fault of the clock. */
const CLOCK_FAULT_MS = 30_000;

/** A worker's clock may be wrong by hours: it says its time when it sends, and what it dated is set right by that. */
export function clockOf(sentAt: string | null | undefined, now: Date): WorkerClock {
  const aheadMs = sentAt ? new Date(sentAt).getTime() - now.getTime() : 0;
  return { aheadMs: Math.abs(aheadMs) > CLOCK_FAULT_MS ? aheadMs : 0, now };
}

function eventRow(
  attemptId: string,
  { seq, event }: Numbered,
  clock: WorkerClock,
): Prisma.CalibrationEventCreateManyInput {
  const { v: _, at, type, ...rest } = event;
  const body = event.type === "counts" ? { arm: event.arm, n: event.sequences.length } : rest;
  return { attemptId, seq, type, at: whenOf(at, clock), body: body as Prisma.InputJsonValue };
}

const EARLIEST = Date.UTC(2000, 0, 1);
const DAY_MS = 86_400_000;

/** When it happened, by the database's clock. What cannot be read, or cannot be true, is replaced by the time it came. */
function whenOf(text: string, { aheadMs, now }: WorkerClock): Date {
  const time = new Date(text).getTime() - aheadMs;
  const possible = time >= EARLIEST && time <= now.getTime() + DAY_MS;
  return possible ? new Date(time) : now;
}

async function storeCounts(ctx: Context, attemptId: string, events: Numbered[]): Promise<void> {
  const data = events.flatMap(({ event }) => {
    if (event.type !== "counts") return [];
    return event.sequences.map((row) => ({
      attemptId,
      arm: event.arm,
      split: row.split,
      sequence: row.id,
      domain: row.domain,
      prefixes: row.prefixes,
      firstAgree: row.first.agree,
      firstTotal: row.first.total,
      earlyAgree: row.early.agree,
      earlyTotal: row.early.total,
      lateAgree: row.late.agree,
      lateTotal: row.late.total,
      klSum: row.kl_sum,
      recovered: row.recovered,
      lost: row.lost,
      goldGain: row.gold_gain,
      nativeGoldGain: row.native_gold_gain,
      multiple: row.multiple ?? 1,
      points: row.points ?? undefined,
      digest: row.digest,
    }));
  });
  // A sequence that comes twice is stored once; its event's number then tells it from the rows, and no verdict is made.
  if (data.length > 0) await ctx.db.sequenceCount.createMany({ data, skipDuplicates: true });
}

interface Progress {
  /** As asked for; where that was "default", what the job says it runs. */
  method: string;
  stage: string | null;
  percent: number;
  rate: number | null;
  unit: string | null;
  developmentOnly: boolean;
}

function foldProgress(before: Progress, events: Numbered[]): Progress {
  const { method, stage, percent, rate, unit, developmentOnly } = before;
  return events.reduce<Progress>((state, { event }) => foldOne(state, event), {
    method,
    stage,
    percent,
    rate,
    unit,
    developmentOnly,
  });
}

function foldOne(state: Progress, event: CalibrationEvent): Progress {
  switch (event.type) {
    case "started":
      return {
        ...state,
        method: state.method === "default" ? event.method : state.method,
        developmentOnly: state.developmentOnly || event.device === "cpu",
      };
    case "stage":
      return { ...state, stage: event.stage, rate: null };
    case "progress":
      return {
        ...state,
        stage: event.stage,
        percent: Math.max(state.percent, event.percent),
        rate: event.rate,
        unit: event.unit,
      };
    case "result":
      return { ...state, percent: 100 };
    case "metric":
    case "log":
    case "counts":
    case "judge_rows":
    case "failed":
      return state;
  }
}
