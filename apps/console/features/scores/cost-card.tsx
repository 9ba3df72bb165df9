"use client";

import type { CostPoint } from "@helm/contracts";
import { ChartFrame, FigureTable } from "../../ui/chart-frame";
import { count, milliseconds } from "../../ui/numbers";
import { CostChart, CostKey } from "./cost-chart";
import { costRows, paysFrom } from "./cost-points";

export function CostCard({ cost, device }: { cost: CostPoint[]; device: string }) {
  const rows = costRows(cost);
  const from = paysFrom(rows);
  const leftOut = cost.filter((point) => point.left_out);
  return (
    <ChartFrame
      title="What a transfer costs"
      hint={
        rows.length === 0
          ? "No point was measured."
          : from === null
            ? "In these measurements a transfer never beat the target's own reading of the prompt."
            : `In these measurements a transfer beats the target's own reading of the prompt from ${count(from)} tokens, given that the pilot has answered.`
      }
      chart={
        rows.length === 0 ? (
          <p className="text-ink-soft">This run measured no cost.</p>
        ) : (
          <div className="flex flex-1 flex-col">
            <CostKey />
            <CostChart rows={rows} />
          </div>
        )
      }
      table={
        <FigureTable
          caption="Cost by prompt length, medians"
          head={[
            "Tokens",
            "Target prefill",
            "Transfer",
            "of it map",
            "of it move",
            "of it tail",
            "Pilot prefill",
          ]}
          rows={cost.map((point) => [
            count(point.tokens),
            ...(point.left_out
              ? [point.left_out, "", "", "", "", ""]
              : [
                  point.target_prefill_ms,
                  point.transfer_ms,
                  point.map_ms,
                  point.move_ms,
                  point.tail_ms,
                  point.pilot_prefill_ms,
                ].map(milliseconds)),
          ])}
        />
      }
      note={
        <>
          <p>
            Medians on {device}, after a warm-up, prefix caching off. The dashed line counts the pilot's own
            prefill too. A node's <code className="font-mono">min_tokens</code> is where its own canary saw a
            transfer pay; below it the target prefills (BLOCK_TOO_SMALL).
          </p>
          {leftOut.length > 0 ? (
            <p className="mt-1">
              Left out:{" "}
              {leftOut.map((point) => `${count(point.tokens)} tokens (${point.left_out})`).join("; ")}.
            </p>
          ) : null}
        </>
      }
    />
  );
}
