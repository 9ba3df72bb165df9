import { setTimeout as pause } from "node:timers/promises";
import { eventLine } from "@helm/contracts";
import type { Context } from "../../context";
import { usage } from "../../failure";
import { isAbsence, requireServer, type Server } from "../../server/client";
import { printable } from "../../terminal/style";

const PAGE = 1_000;
const POLL_MS = 1_000;
const PATIENCE_MS = 60_000;

/** A run's log, as its page shows it: lines for people, JSON lines of the whole events with --json. */
export async function calibrationLogs(
  context: Context,
  id: string,
  { attempt, follow }: { attempt: string | undefined; follow: boolean },
): Promise<void> {
  const server = await requireServer(context.config);
  const number = attempt === undefined ? undefined : wholeNumber(attempt);
  if (follow && number !== undefined)
    throw usage("--follow follows the newest attempt. Leave --attempt out.");
  const cursor = { attempt: number ?? 0, seq: 0 };
  let heard = Date.now();
  for (;;) {
    try {
      // Asked before the lines: what it said last is not missed where it ends in between.
      const { state } = await server.calibration.get.query({ id });
      await printSince(context, server, id, cursor, number);
      heard = Date.now();
      if (!follow || (state !== "QUEUED" && state !== "RUNNING")) {
        if (follow) context.screen.note(`The run is ${state}.`);
        return;
      }
    } catch (error) {
      if (!follow || !isAbsence(error) || Date.now() - heard > PATIENCE_MS) throw error;
    }
    await pause(POLL_MS);
  }
}

async function printSince(
  { screen }: Context,
  server: Server,
  id: string,
  cursor: { attempt: number; seq: number },
  attempt: number | undefined,
): Promise<void> {
  for (;;) {
    const page = await server.calibration.events.query({ id, attempt, afterSeq: cursor.seq, limit: PAGE });
    if (page.attempt !== cursor.attempt && cursor.attempt !== 0 && attempt === undefined) {
      screen.note(`Attempt ${page.attempt} began.`);
      Object.assign(cursor, { attempt: page.attempt, seq: 0 });
      continue;
    }
    cursor.attempt = page.attempt;
    for (const { seq, type, at, body } of page.events) {
      cursor.seq = seq;
      if (screen.json) screen.emit({ ...body, seq, attempt: page.attempt, type, at: at.toISOString() });
      const line = screen.json ? null : eventLine(type, body);
      if (line)
        screen.say(printable(`${at.toISOString().slice(11, 19)}  ${wordOf(line.level)}${line.message}`));
    }
    if (page.events.length < PAGE) return;
  }
}

function wordOf(level: string): string {
  return level === "warning" || level === "error" ? `${level}: ` : "";
}

function wholeNumber(given: string): number {
  if (!/^[1-9]\d*$/.test(given)) throw usage(`--attempt ${given} is no number of an attempt.`);
  return Number(given);
}
