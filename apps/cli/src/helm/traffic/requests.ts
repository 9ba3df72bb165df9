import { csvLine, REQUEST_DECISIONS } from "@helm/contracts";
import type { Context } from "../../context";
import { requireServer, type Server } from "../../server/client";
import { table } from "../../terminal/style";
import { pick, wholeOf } from "../given";
import { readRange } from "./range";

type Row = Awaited<ReturnType<Server["traffic"]["requests"]["query"]>>["rows"][number];
type Options = Record<string, string | boolean | undefined>;

const MOST = 500;
const TRANSFERS = ["transferred", "fallback", "none"] as const;
const KEPT = ["fallback", "refusal", "error", "share", "rate", "asked"] as const;

/** Sampled requests, newest first, as a table, JSON or CSV. */
export async function listRequests({ config, screen }: Context, options: Options): Promise<void> {
  const server = await requireServer(config);
  const text = (key: string) => (typeof options[key] === "string" ? String(options[key]) : undefined);
  const one = <W extends string>(key: string, words: readonly W[]) => {
    const given = text(key);
    return given === undefined ? undefined : pick(given, words);
  };
  const { rows, nextCursor } = await server.traffic.requests.query({
    ...(await readRange(server, options)),
    decision: one("decision", REQUEST_DECISIONS),
    transfer: one("transfer", TRANSFERS),
    kept: one("because", KEPT),
    reason: text("reason"),
    limit: Math.min(MOST, Math.max(1, wholeOf(text("limit") ?? "50"))),
    cursor: text("after"),
  });
  if (options.csv === true && !screen.json) {
    process.stdout.write(csvLine(HEAD));
    for (const row of rows) process.stdout.write(csvLine([row.at, ...cells(row).slice(1)]));
    return;
  }
  screen.answer({ type: "requests", rows, nextCursor }, () => {
    if (rows.length === 0)
      return ["No sampled request matches. Widen it with --hours, or leave a filter out."];
    return [
      ...table(HEAD, rows.map(cells)),
      ...(nextCursor ? [`There are more: --after ${nextCursor}.`] : []),
    ];
  });
}

const HEAD = [
  "at",
  "trace",
  "tenant",
  "prompt",
  "decision",
  "reason",
  "transfer",
  "first token",
  "answered by",
];

function cells({ at, id, tenant, trace }: Row): string[] {
  return [
    at.toISOString(),
    id,
    tenant.name,
    String(trace.tokens.prompt ?? ""),
    trace.error_code ? String(trace.status) : (trace.decision ?? ""),
    trace.error_code ?? trace.reason ?? "",
    trace.transfer ?? "",
    trace.first_token_ms === null ? "" : `${trace.first_token_ms} ms`,
    trace.served_by ?? "",
  ];
}
