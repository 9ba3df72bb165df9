import type { CalibrationState, CalibrationUpdate } from "@helm/contracts";
import { isFinal } from "./run-states";

export type LogLine = { seq: number; at: string; level: string; message: string };

export type Feed = {
  attempt: number;
  lastSeq: number;
  state: CalibrationState;
  stage: string | null;
  percent: number;
  rate: number | null;
  unit: string | null;
  /** In order, one for each number. */
  lines: LogLine[];
};

/** What a page shows of a run's log at most; the rest stays in the database. */
export const MOST_LINES = 2_000;

export type FeedUpdate = Omit<CalibrationUpdate, "calibration">;

/**
 * Backlog and socket meet here, in any order and as often as they like. A newer attempt starts over, an older one is
 * dropped; within an attempt a final state and the highest percent stay; lines are told apart by their number.
 */
export function mergeFeed(feed: Feed | null, update: FeedUpdate): Feed {
  if (!feed || update.attempt > feed.attempt) return fresh(update);
  if (update.attempt < feed.attempt) return feed;
  const newer = update.last_seq >= feed.lastSeq;
  const final = isFinal(feed.state);
  return {
    attempt: feed.attempt,
    lastSeq: Math.max(feed.lastSeq, update.last_seq),
    state: final ? feed.state : isFinal(update.state) || newer ? update.state : feed.state,
    stage: newer ? update.stage : feed.stage,
    percent: Math.max(feed.percent, update.percent),
    rate: newer ? update.rate : feed.rate,
    unit: newer ? update.unit : feed.unit,
    lines: mergeLines(feed.lines, update.lines),
  };
}

/**
 * The row is the truth, but an answer may be older than what the socket said meanwhile. Within an attempt a final
 * state gives way to QUEUED only: that is a retry waiting for its worker.
 */
export function mergeRow(feed: Feed | null, row: FeedUpdate): Feed {
  if (!feed || row.attempt > feed.attempt) return fresh(row);
  if (row.attempt < feed.attempt) return feed;
  if (isFinal(feed.state) && row.state === "QUEUED") return { ...fresh(row), lines: feed.lines };
  return mergeFeed(feed, row);
}

function fresh(update: FeedUpdate): Feed {
  const { attempt, last_seq: lastSeq, state, stage, percent, rate, unit, lines } = update;
  return { attempt, lastSeq, state, stage, percent, rate, unit, lines: mergeLines([], lines) };
}

export function mergeLines(known: readonly LogLine[], added: readonly LogLine[]): LogLine[] {
  if (added.length === 0) return known as LogLine[];
  const lastKnown = known.at(-1)?.seq ?? 0;
  const inOrder = added.every(
    (line, index) => line.seq > (index === 0 ? lastKnown : (added[index - 1]?.seq ?? 0)),
  );
  if (inOrder) return [...known, ...added].slice(-MOST_LINES);
  const bySeq = new Map(known.map((line) => [line.seq, line]));
  for (const line of added) if (!bySeq.has(line.seq)) bySeq.set(line.seq, line);
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq).slice(-MOST_LINES);
}
