"use client";

import { Badge, type Tone } from "../../ui/badge";
import type { Column } from "../../ui/data-table";
import { count, milliseconds } from "../../ui/numbers";
import { Moment } from "../preferences/time";
import { judgeWords } from "./judge-words";
import type { TraceRow } from "./use-traffic";

const TONES: Record<string, Tone> = { kept: "good", escalated: "busy", direct: "plain", explicit: "plain" };

export function DecisionBadge({ row }: { row: Pick<TraceRow, "trace"> }) {
  const { decision, status, error_code } = row.trace;
  if (error_code) return <Badge tone={status === 499 ? "plain" : "bad"}>{`${status} ${error_code}`}</Badge>;
  return <Badge tone={TONES[decision ?? ""] ?? "plain"}>{decision ?? "undecided"}</Badge>;
}

export const REQUEST_COLUMNS: Column<TraceRow>[] = [
  {
    id: "at",
    name: "Time",
    value: (row) => row.at,
    cell: (row) => <Moment at={row.at} />,
    csv: { at: (row) => row.at, id: (row) => row.id },
    sort: false,
  },
  {
    id: "tenant",
    name: "Tenant",
    value: (row) => row.tenant.name,
    sort: false,
  },
  {
    id: "prompt",
    name: "Prompt",
    value: (row) => row.trace.tokens.prompt,
    cell: (row) => (row.trace.tokens.prompt === null ? null : count(row.trace.tokens.prompt)),
    sort: false,
  },
  {
    id: "judge",
    name: "Judge",
    value: (row) => row.trace.judge?.score ?? null,
    cell: (row) => judgeWords(row.trace.judge),
    csv: {
      judge_score: (row) => row.trace.judge?.score ?? null,
      judge_threshold: (row) => row.trace.judge?.threshold ?? null,
    },
    sort: false,
  },
  {
    id: "decision",
    name: "Decision",
    value: (row) => row.trace.decision,
    cell: (row) => <DecisionBadge row={row} />,
    csv: {
      status: (row) => row.trace.status,
      error: (row) => row.trace.error_code,
      decision: (row) => row.trace.decision,
      reason: (row) => row.trace.reason,
    },
    sort: false,
  },
  {
    id: "transfer",
    name: "Transfer",
    value: (row) => row.trace.transfer,
    cell: (row) => <TransferCell row={row} />,
    csv: {
      transfer: (row) => row.trace.transfer,
      tokens_moved: (row) => row.trace.tokens.moved,
      map_ms: (row) => row.trace.steps?.map_ms ?? null,
    },
    sort: false,
  },
  {
    id: "first",
    name: "First token",
    value: (row) => row.trace.first_token_ms,
    cell: (row) => (row.trace.first_token_ms === null ? null : milliseconds(row.trace.first_token_ms)),
    csv: {
      first_token_ms: (row) => row.trace.first_token_ms,
      total_ms: (row) => row.trace.total_ms,
    },
    sort: false,
  },
  { id: "by", name: "Answered by", value: (row) => row.trace.served_by, sort: false },
];

function TransferCell({ row }: { row: TraceRow }) {
  const { transfer, tokens, steps, reason } = row.trace;
  if (transfer === "transferred")
    return `${count(tokens.moved ?? 0)} tokens${steps?.map_ms == null ? "" : `, ${milliseconds(steps.map_ms)}`}`;
  if (transfer === "fallback")
    return <span className="font-mono text-[0.8125rem] [overflow-wrap:anywhere]">{reason}</span>;
  return null;
}
