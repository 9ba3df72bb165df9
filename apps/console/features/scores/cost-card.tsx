"use client";

import { BREAK_EVENS, type BreakEven, type CostPoint, fromTokens } from "@helm/contracts";
import { useState } from "react";
import { Button } from "../../ui/button";
import { ChartFrame, FigureTable } from "../../ui/chart-frame";
import { count, milliseconds } from "../../ui/numbers";
import { ANSWERED, CostChart, LineKey, PATHS, PUBLISHED } from "./cost-chart";
import { costRows, pathRows } from "./cost-points";
import type { Published } from "./published";

type Props = { cost: CostPoint[]; breakEven: BreakEven | null; device: string; published: Published | null };
type Curve = "answered" | "paths";

/** Two curves of one table: what the transfer replaces, and what the whole escalation takes. */
export function CostCard({ cost, breakEven, device, published }: Props) {
  const [chosen, setChosen] = useState<Curve>("answered");
  const paths = pathRows(cost);
  const curve = paths.length > 0 ? chosen : "answered";
  const rows = curve === "paths" ? paths : costRows(cost, published);
  const lines = curve === "paths" ? PATHS : published ? [...ANSWERED, ...PUBLISHED] : ANSWERED;
  const measured = rows.length > 0 && cost.some((point) => point.transfer_ms !== null);
  return (
    <ChartFrame
      title="What a transfer costs"
      hint={measured ? sentenceOf(curve, breakEven) : "No point was measured."}
      chart={
        measured ? (
          <div className="flex flex-1 flex-col">
            {paths.length > 0 ? <CurveChoice curve={curve} onChange={setChosen} /> : null}
            <LineKey lines={lines} />
            <CostChart rows={rows} lines={lines} />
          </div>
        ) : (
          <p className="text-ink-soft">This run measured no cost.</p>
        )
      }
      table={<CostTable cost={cost} published={published} />}
      note={<Note cost={cost} device={device} published={published} curve={curve} />}
    />
  );
}

function CurveChoice({ curve, onChange }: { curve: Curve; onChange: (curve: Curve) => void }) {
  const names: Record<Curve, string> = { answered: "Pilot has answered", paths: "Whole paths" };
  return (
    <fieldset className="mb-2 flex gap-1">
      <legend className="sr-only">Which curve</legend>
      {(["answered", "paths"] as const).map((one) => (
        <Button
          key={one}
          size="small"
          kind={curve === one ? "plain" : "quiet"}
          aria-pressed={curve === one}
          onClick={() => onChange(one)}
        >
          {names[one]}
        </Button>
      ))}
    </fieldset>
  );
}

function sentenceOf(curve: Curve, breakEven: BreakEven | null): string {
  const keys = curve === "paths" ? (["escalated", "direct"] as const) : (["transfer", "with_pilot"] as const);
  return keys
    .map((key) => {
      const { name, words } = BREAK_EVENS[key];
      return `${name}: ${fromTokens(breakEven?.[key]).replace(/^from /, "")} (${words}).`;
    })
    .join(" ");
}

function CostTable({ cost, published }: { cost: CostPoint[]; published: Published | null }) {
  const paths = cost.some((point) => point.direct_target_ms != null);
  const head = ["Tokens", "Target prefill", "Transfer", "Map", "Move", "Tail", "Pilot prefill"];
  if (paths) head.push("Direct target", "Escalated, transfer", "Escalated, without");
  return (
    <>
      <FigureTable
        caption="Cost by prompt length, medians"
        head={head}
        rows={cost.map((point) => {
          if (point.left_out) return [count(point.tokens), point.left_out, ...head.slice(2).map(() => "")];
          const parts = [
            point.target_prefill_ms,
            point.transfer_ms,
            point.map_ms,
            point.move_ms,
            point.tail_ms,
            point.pilot_prefill_ms,
          ];
          const whole = [
            point.direct_target_ms,
            point.escalated_with_transfer_ms,
            point.escalated_without_transfer_ms,
          ];
          return [count(point.tokens), ...[...parts, ...(paths ? whole : [])].map(milliseconds)];
        })}
      />
      {published ? (
        <div className="mt-3">
          <p className="mb-1 text-[0.8125rem] text-ink-soft">
            Published for {published.pair} ({published.where})
          </p>
          <FigureTable
            caption={`Published for ${published.pair}`}
            head={["Tokens", "Target prefill", "Transfer"]}
            rows={published.points.map((point) => [
              count(point.tokens),
              milliseconds(point.target),
              milliseconds(point.transfer),
            ])}
          />
        </div>
      ) : null}
    </>
  );
}

function Note({
  cost,
  device,
  published,
  curve,
}: Pick<Props, "cost" | "device" | "published"> & { curve: Curve }) {
  const leftOut = cost.filter((point) => point.left_out);
  const decided = cost.find((point) => point.decision_tokens != null)?.decision_tokens;
  return (
    <>
      <p>
        Medians on {device}, after a warm-up, prefix caching off; both axes logarithmic.{" "}
        {curve === "paths"
          ? `Both escalated paths hold the pilot's prefill and ${decided ?? "its"} decoded tokens.`
          : "The dashed line counts the pilot's own prefill too."}{" "}
        Each node measures its own at its canary and lets the target prefill below that (BLOCK_TOO_SMALL).
      </p>
      {published && curve === "answered" ? (
        <p className="mt-1">
          Dotted: published for {published.pair} on {published.where}.
        </p>
      ) : null}
      {leftOut.length > 0 ? (
        <p className="mt-1">
          Left out: {leftOut.map((point) => `${count(point.tokens)} tokens (${point.left_out})`).join("; ")}.
        </p>
      ) : null}
    </>
  );
}
