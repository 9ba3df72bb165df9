import { setTimeout as pause } from "node:timers/promises";
import { auditWords, csvLine } from "@helm/contracts";
import { type Command, Option } from "commander";
import type { Context } from "../context";
import { Failure } from "../failure";
import { isAbsence, requireServer, type Server } from "../server/client";
import { printable } from "../terminal/style";
import type { AddVerb } from "../verb";

type Row = Awaited<ReturnType<Server["audit"]["list"]["query"]>>["rows"][number];
type Filter = NonNullable<Parameters<Server["audit"]["list"]["query"]>[0]>;

const PAGE = 500;
const FOLLOW_MS = 2_000;
/** A transaction's rows carry the moment it began: what commits late is still found this far back. */
const OVERLAP_MS = 60_000;

export function addAudit(helm: Command, verb: AddVerb) {
  const audit = helm.command("audit").description("who changed what");
  verb(audit, "list", "newest first; every filter narrows it", (c, _, o) => listAudit(c, o))
    .addOption(
      new Option("--by <kind>", "people's changes alone, or another kind's").choices([
        "person",
        "host",
        "system",
        "anonymous",
      ]),
    )
    .option("--actor <name>", "who: an email, or as the list names it")
    .option("--verb <verb>", "what was done, e.g. pair.refused")
    .option("--entity <kind>", "kind of thing, e.g. tenant")
    .option("--id <id>", "one thing, by its id")
    .option("--request <id>", "one request, by its id")
    .option("--since <when>", "a day or a time (UTC), or how long ago: 30m, 2h, 7d")
    .option("--until <when>", "up to then; a day counts whole")
    .addOption(new Option("--limit <n>", "how many at most (0: all)").default("50"))
    .option("--csv", "print CSV")
    .option("--follow", "print what comes, until it is stopped");
}

/** Rows as lines, JSON lines (one a row) or CSV. */
export async function listAudit(
  { config, screen }: Context,
  options: Record<string, string | boolean | undefined>,
): Promise<void> {
  const server = await requireServer(config);
  const filter: Filter = {
    actorKind: text(options.by) as Filter["actorKind"],
    actor: text(options.actor),
    verb: text(options.verb),
    entity: text(options.entity),
    entityId: text(options.id),
    requestId: text(options.request),
    since: readWhen(text(options.since), "start"),
    until: readWhen(text(options.until), "end"),
  };
  const write = screen.json
    ? (row: Row) => screen.emit({ type: "audit", ...row })
    : options.csv === true
      ? (row: Row) => void process.stdout.write(csvOf(row))
      : alignedTo((line) => screen.say(line));
  if (options.csv === true && !screen.json) process.stdout.write(csvLine(CSV_HEAD));
  if (options.follow === true) return follow(server, filter, write);
  let rows = 0;
  for await (const row of pages(server, filter, readLimit(text(options.limit)))) {
    write(row);
    rows += 1;
  }
  if (rows === 0) screen.note("No entry matches. Without filters lifeboat helm audit list shows the newest.");
}

async function* pages(server: Server, filter: Filter, most: number): AsyncGenerator<Row> {
  let cursor: string | undefined;
  let left = most;
  do {
    const page = await server.audit.list.query({ ...filter, cursor, limit: Math.min(PAGE, left) });
    yield* page.rows;
    left -= page.rows.length;
    cursor = page.nextCursor ?? undefined;
  } while (cursor && left > 0);
}

/** Oldest first, each row once; without --since from the newest row on. Rides out a server that is away. */
async function follow(server: Server, filter: Filter, write: (row: Row) => void): Promise<never> {
  const seen = new Map<string, number>();
  let newest = filter.since?.getTime() ?? null;
  if (newest === null) {
    const { rows } = await server.audit.list.query({ ...filter, limit: PAGE });
    for (const row of rows) seen.set(row.id, row.at.getTime());
    newest = rows[0]?.at.getTime() ?? 0;
  }
  for (;;) {
    const since = new Date(Math.max(newest - OVERLAP_MS, filter.since?.getTime() ?? 0));
    const found: Row[] = [];
    try {
      for await (const row of pages(server, { ...filter, since }, Number.POSITIVE_INFINITY)) found.push(row);
    } catch (error) {
      if (!isAbsence(error)) throw error;
    }
    for (const row of found.reverse()) {
      if (!seen.has(row.id)) write(row);
      seen.set(row.id, row.at.getTime());
      newest = Math.max(newest, row.at.getTime());
    }
    for (const [id, at] of seen) if (at < newest - 2 * OVERLAP_MS) seen.delete(id);
    await pause(FOLLOW_MS);
  }
}

const CSV_HEAD = [
  "at",
  "actor_kind",
  "actor",
  "verb",
  "entity",
  "entity_id",
  "before",
  "after",
  "reason",
  "request_id",
];

function csvOf(row: Row): string {
  const json = (value: unknown) => (value === null || value === undefined ? "" : JSON.stringify(value));
  const { at, actorKind, actorName, verb, entity, entityId, before, after, reason, requestId } = row;
  return csvLine([
    at,
    actorKind,
    actorName,
    verb,
    entity,
    entityId,
    json(before),
    json(after),
    reason,
    requestId,
  ]);
}

/** Rows come one by one, so columns are as wide as what has come, and no wider than this. */
const WIDEST = 40;

/** Writes rows in columns, each as wide as its longest cell so far. */
export function alignedTo(say: (line: string) => void): (row: Row) => void {
  const widths = [19, 20, 24, 16];
  return (row) => {
    const cells = cellsOf(row).map(printable);
    const line = cells.map((cell, column) => {
      const width = Math.min(WIDEST, Math.max(widths[column] ?? 0, cell.length));
      if (column < widths.length) widths[column] = width;
      return column < widths.length ? cell.padEnd(width) : cell;
    });
    say(line.join("  ").trimEnd());
  };
}

/** 2026-11-30 12:00:05, ada@example.org, enabled or excluded a tenant, tenant ...59bc, enabled: false -> true */
export function cellsOf(row: Row): string[] {
  const when = row.at.toISOString().slice(0, 19).replace("T", " ");
  const thing = row.entityId.length > 13 ? `...${row.entityId.slice(-8)}` : row.entityId;
  const change = [changeOf(row.before, row.after), row.reason].filter(Boolean).join("; ");
  return [when, row.actorName, auditWords(row.verb), `${row.entity} ${thing}`, change];
}

function changeOf(before: unknown, after: unknown): string {
  const was = plain(before);
  const is = plain(after);
  return [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]))
    .map((name) => {
      const now = JSON.stringify(is[name]) ?? "nothing";
      return name in was ? `${name}: ${JSON.stringify(was[name])} -> ${now}` : `${name}: ${now}`;
    })
    .join(", ");
}

function plain(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === "object" ? (value as Record<string, unknown>) : {};
}

const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** "2h", "2026-11-30", "2026-11-30T12:00" (UTC). A day is its start, or its end where it bounds above. Errors: Failure. */
export function readWhen(
  when: string | undefined,
  edge: "start" | "end",
  now = Date.now(),
): Date | undefined {
  if (when === undefined) return undefined;
  const ago = /^(\d{1,6})([smhd])$/.exec(when);
  if (ago) return new Date(now - Number(ago[1]) * (UNIT_MS[ago[2] ?? ""] ?? 0));
  const zoned = /(Z|[+-]\d{2}:\d{2})$/.test(when);
  const day = /^\d{4}-\d{2}-\d{2}$/.test(when);
  const at = /^\d{4}-\d{2}-\d{2}/.test(when)
    ? Date.parse(day ? when : zoned ? when : `${when}Z`)
    : Number.NaN;
  if (!Number.isNaN(at)) return new Date(day && edge === "end" ? at + (UNIT_MS.d ?? 0) : at);
  throw new Failure(
    2,
    "USAGE",
    `"${when}" is no time. Give a day (2026-11-30), a time in UTC (2026-11-30T12:00) or how long ago (2h).`,
  );
}

function readLimit(limit: string | undefined): number {
  const most = Number(limit);
  if (limit === undefined || !Number.isInteger(most) || most < 0)
    throw new Failure(2, "USAGE", `--limit takes a whole number; 0 means all, not "${limit}".`);
  return most === 0 ? Number.POSITIVE_INFINITY : most;
}

function text(option: string | boolean | undefined): string | undefined {
  return typeof option === "string" ? option : undefined;
}
