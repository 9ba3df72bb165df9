"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../../api/trpc";
import { Card } from "../../ui/card";
import { ChartFrame, FigureTable } from "../../ui/chart-frame";
import { Command } from "../../ui/command";
import { count, share } from "../../ui/numbers";
import type { Pair } from "../pairs/pair-words";
import { TimeAgo } from "../preferences/time";
import { driftStep } from "./drift-words";
import { type ChartLine, LineChart } from "./line-chart";

type Row = { turn: number; direction: "up" | "down"; new: number; all: number | null; n: number };
type Key = "new" | "all";

const LINES: (ChartLine<Row> & { key: Key })[] = [
  { key: "new", name: "new rows mapped, as in serving", stroke: "var(--accent)" },
  { key: "all", name: "whole conversation mapped anew", stroke: "var(--ink-soft)", dash: "5 4" },
];

/** Drift: what a conversation keeps while pilot and target answer by turns. Drawn where it was measured and recorded. */
export function DriftCard({ pair: measured }: { pair: Pair }) {
  const trpc = useTRPC();
  const { id: pairId, gate, reverseId } = measured;
  const found = useQuery(trpc.drift.list.queryOptions({ pairId, limit: 1 }));
  const [latest] = found.data ?? [];
  if (!found.data) return null;
  if (!latest) {
    return (
      <Card
        title="Drift"
        hint="What a conversation keeps while pilot and target answer by turns and its cache goes with every turn. Not measured for this pair: it takes a mapper of each direction."
      >
        <HowToMeasure pair={measured} reverseId={reverseId} />
      </Card>
    );
  }
  const { carries, pair } = latest.result;
  const rows = carries.new.map(
    ({ turn, direction, retention, n }, at): Row => ({
      turn,
      direction,
      new: retention,
      all: carries.all?.[at]?.retention ?? null,
      n,
    }),
  );
  const lines = carries.all ? LINES : LINES.slice(0, 1);
  const first = rows[0]?.new ?? 0;
  const last = rows.at(-1)?.new ?? 0;
  return (
    <ChartFrame
      title="Drift"
      hint={`Pilot and target answer by turns, and the conversation's cache goes with every turn: retention is ${share(first)} at the first turn and ${share(last)} at turn ${rows.length}.`}
      chart={
        <LineChart
          rows={rows}
          lines={lines}
          x={{ key: "turn", name: "turn; odd ones go up, even ones down" }}
          floor={floorOf(rows, gate)}
          gate={gate}
          figures={figuresOf}
        />
      }
      table={
        <FigureTable
          caption="Retention turn by turn"
          head={["Turn", "Cache goes from", "New rows mapped", "All mapped anew", "Conversations"]}
          rows={rows.map((row) => [
            row.turn,
            row.direction === "up" ? `${pair.source} to ${pair.target}` : `${pair.target} to ${pair.source}`,
            share(row.new),
            row.all === null ? "" : share(row.all),
            count(row.n),
          ])}
        />
      }
      note={
        <>
          Mapper {latest.mapper.sha256.slice(0, 8)} up, {latest.reverseMapper.sha256.slice(0, 8)} down;{" "}
          {count(rows[0]?.n ?? 0)} conversations on {latest.result.device}. Recorded by {latest.recordedBy},{" "}
          <TimeAgo at={latest.createdAt} />. No part of the gate's number.
        </>
      }
    />
  );
}

function HowToMeasure({ pair, reverseId }: { pair: Pair; reverseId: string | null }) {
  const trpc = useTRPC();
  const reverse = useQuery(
    trpc.pair.get.queryOptions({ id: reverseId ?? "" }, { enabled: reverseId !== null }),
  );
  const step = driftStep(pair, reverseId === null ? null : reverse.data);
  if (step === null) return null;
  return "command" in step ? <Command text={step.command} /> : <p>{step.missing}</p>;
}

/** A tenth below what is lowest, the gate included. */
function floorOf(rows: Row[], gate: number): number {
  const lowest = Math.min(gate, ...rows.flatMap((row) => [row.new, row.all ?? 1]));
  return Math.max(0, Math.floor(lowest * 10 - 1e-9) / 10);
}

function figuresOf(row: Row) {
  const figures = LINES.flatMap(({ key, name }): [string, string][] => {
    const value = row[key];
    return value === null ? [] : [[name, share(value)]];
  });
  return { title: `Turn ${row.turn}, ${row.direction}`, figures };
}
