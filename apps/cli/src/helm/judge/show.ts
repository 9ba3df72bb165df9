import { readFile, stat } from "node:fs/promises";
import { chooseThreshold, digestOfTable } from "@helm/cascade";
import { ExitCode, type JudgeBy, JudgeTable } from "@helm/contracts";
import type { Context } from "../../context";
import { Failure, usage } from "../../failure";
import { requireServer, type Server } from "../../server/client";
import { table as columns, minute } from "../../terminal/style";
import { numberOf } from "../given";
import { findPairNamed } from "../retention/find";
import { seenOf, tableLines } from "./lines";

type Raw = Record<string, string | boolean | undefined>;

/** One table, from a file or from the server: by its id or the beginning of its digest. */
export async function showJudge(context: Context, given: string, raw: Raw): Promise<void> {
  const by = readBy(raw);
  const { table, sha256, check } = await findTable(context, given);
  const chosen = by ? chooseThreshold(table, by) : null;
  if (chosen && !chosen.ok)
    throw new Failure(
      1,
      "FLOOR_OUT_OF_REACH",
      `That quality cannot be shown with ${table.requests} labelled requests: the most is ${chosen.reachable.toFixed(3)}.`,
    );
  const threshold = chosen?.threshold ?? null;
  context.screen.answer({ ...table, sha256, threshold, ...(check === undefined ? {} : { check }) }, () => [
    ...tableLines(table, sha256, threshold),
    ...(check === undefined ? [] : ["", checkLine(check)]),
  ]);
}

export async function listJudge({ config, screen }: Context, pair: string | undefined): Promise<void> {
  const server = await requireServer(config);
  const pairId = (await findPairNamed(server, pair))?.id;
  const tables = await server.judge.list.query({ pairId });
  screen.answer({ type: "judge_tables", tables }, () => {
    if (tables.length === 0)
      return ["No judge table yet: a calibration's first run brings them, or lifeboat helm judge fit."];
    const rows = tables.map((one) => [
      one.sha256.slice(0, 12),
      one.pairName,
      seenOf(one),
      one.label,
      String(one.requests),
      one.auc.toFixed(3),
      one.stale ? "of other weights" : one.usedBy.join(", ") || "-",
      minute(one.createdAt),
    ]);
    return columns(
      ["table", "pair", "judges", "label", "requests", "AUC", "used by", "stored"],
      rows,
      [4, 5],
    );
  });
}

export async function importJudge({ config, screen }: Context, file: string): Promise<void> {
  const server = await requireServer(config);
  const stored = await server.judge.import.mutate({ table: await readTable(file) });
  screen.answer({ type: "judge_table", table: stored }, () => [
    `Stored judge table ${stored.sha256.slice(0, 12)} of ${stored.pairName}, for ${seenOf(stored)}.`,
    `Next: lifeboat helm route set NAME --judge ${stored.sha256.slice(0, 12)} --escalation-rate 0.2.`,
  ]);
}

export async function removeJudge({ config, screen }: Context, given: string): Promise<void> {
  const server = await requireServer(config);
  const { id } = await server.judge.get.query({ id: given });
  const removed = await server.judge.remove.mutate({ id });
  screen.answer({ type: "removed", ...removed }, () => [
    `Removed judge table ${removed.sha256.slice(0, 12)}.`,
  ]);
}

/** Which of the two a threshold is chosen by; null where neither is given. Errors: usage. */
export function readBy(raw: Raw): JudgeBy | null {
  const [rate, floor] = [raw.escalationRate, raw.qualityFloor];
  if (rate !== undefined && floor !== undefined)
    throw usage("--escalation-rate and --quality-floor exclude each other.");
  if (rate !== undefined) return { escalation_rate: share("--escalation-rate", rate) };
  return floor === undefined ? null : { quality_floor: share("--quality-floor", floor) };
}

function share(name: string, given: string | boolean): number {
  const value = numberOf(String(given));
  if (value < 0 || value > 1) throw usage(`${name} is a share from 0 to 1, such as 0.2.`);
  return value;
}

type Check = Awaited<ReturnType<Server["judge"]["check"]["query"]>>;

/** `check` only of a table of the server: whether its probabilities come true in traffic. */
async function findTable(
  context: Context,
  given: string,
): Promise<{ table: JudgeTable; sha256: string; check?: Check }> {
  if (await stat(given).catch(() => null)) {
    const table = await readTable(given);
    return { table, sha256: digestOfTable(table) };
  }
  // An id and a digest have neither; a path that was mistyped needs no server to be told.
  if (/[./\\]/.test(given)) throw unreadable(`There is no file ${given}.`);
  const server = await requireServer(context.config);
  const { id, table, sha256 } = await server.judge.get.query({ id: given });
  return { table, sha256, check: await server.judge.check.query({ id }) };
}

export function checkLine(check: Check): string {
  if (!check) return "In the traffic of the last 7 days: not checked, no kept request was drawn.";
  const { requests, predicted, observed } = check;
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  return `In the traffic of the last 7 days: true of ${percent(observed.value)} [${percent(observed.low)}, ${percent(observed.high)}] of kept requests (${requests} drawn), where it said ${percent(predicted)}.`;
}

async function readTable(file: string): Promise<JudgeTable> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw unreadable(`${file} cannot be read (${error.code}).`);
  });
  try {
    return JudgeTable.parse(JSON.parse(text));
  } catch {
    throw unreadable(`${file} is no judge table: it comes from lifeboat helm judge fit --out FILE.`);
  }
}

function unreadable(message: string): Failure {
  return new Failure(ExitCode.unreadable, "TABLE_UNREADABLE", message);
}
