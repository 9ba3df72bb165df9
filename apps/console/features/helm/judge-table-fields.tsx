"use client";

import { JUDGE_LABELS, type StreamingMode } from "@helm/contracts";
import { skipToken, useQuery } from "@tanstack/react-query";
import type { UseFormRegisterReturn } from "react-hook-form";
import { problemOf } from "../../api/errors";
import { useTRPC } from "../../api/trpc";
import { SelectField, TextField } from "../../ui/field";
import { useSettled } from "../edit/preview";
import { seenOf } from "../judge/judge-words";
import { choiceOfFields, type JudgeTableField } from "./judge-table-schema";

/**
 * Which table judges, and from where on. A table that was not fitted for what the route holds back can be seen here and
 * not chosen.
 */
export function JudgeTableFields({
  field,
  pairId,
  holds,
  chosen,
}: {
  field: (name: JudgeTableField) => UseFormRegisterReturn & { error: string | undefined };
  pairId: string;
  /** What the form holds back now. */
  holds: { streaming: StreamingMode; window: unknown };
  chosen: { judgeTableId: string; judgeBy: "escalation_rate" | "quality_floor"; judgeShare: unknown };
}) {
  const trpc = useTRPC();
  const known = useQuery(trpc.judge.list.queryOptions(pairId ? { pairId } : skipToken)).data;
  const tables = known ?? [];
  const window = Number(holds.window);
  const fits = (table: (typeof tables)[number]) =>
    !table.stale && table.streaming === holds.streaming && (table.window === null || table.window === window);
  const table = tables.find(({ id }) => id === chosen.judgeTableId);
  const misfit =
    table && !fits(table)
      ? `It judges ${seenOf(table.streaming, table.window)}: choose another, or the bounds.`
      : undefined;
  const { error: tableError, ...tableField } = field("judgeTableId");
  return (
    <>
      <div className="sm:col-span-2">
        {/* A select shows only what it has when it is mounted: without a new one the chosen table reads as the bounds. */}
        <SelectField
          key={known ? "known" : "loading"}
          label="Judge"
          hint={hintOf(tables.filter(fits).length, holds.streaming, window)}
          error={tableError ?? misfit}
          {...tableField}
        >
          <option value="">the two bounds below</option>
          {tables.map((one) => (
            <option key={one.id} value={one.id} disabled={!fits(one)}>
              {`${one.sha256.slice(0, 8)}: ${seenOf(one.streaming, one.window)}${one.stale ? ", of other weights" : ""}, ${JUDGE_LABELS[one.label]}`}
            </option>
          ))}
        </SelectField>
      </div>
      {chosen.judgeTableId === "" ? null : (
        <>
          <SelectField label="Threshold by" hint={BY[chosen.judgeBy]} {...field("judgeBy")}>
            <option value="escalation_rate">escalation rate</option>
            <option value="quality_floor">quality floor</option>
          </SelectField>
          <TextField
            label={chosen.judgeBy === "escalation_rate" ? "Escalation rate" : "Quality floor"}
            hint="A share from 0 to 1."
            inputMode="decimal"
            {...field("judgeShare")}
          />
          {misfit ? null : <Comes chosen={chosen} />}
        </>
      )}
    </>
  );
}

const BY = {
  escalation_rate: "The hardest are escalated, as many as this.",
  quality_floor: "As few are escalated as keep this, with the whole interval.",
};

function hintOf(fitting: number, streaming: StreamingMode, window: number): string {
  if (streaming === "stream") return "Nothing is judged in the stream mode.";
  if (fitting > 0) return "A probability, fitted on labelled answers; the bounds stand by.";
  return `No table of this pair judges ${seenOf(streaming, window)}. The pair's page fits one.`;
}

/** What the choice comes to: the threshold with its interval, in the server's words. */
function Comes({
  chosen,
}: {
  chosen: { judgeTableId: string; judgeBy: "escalation_rate" | "quality_floor"; judgeShare: unknown };
}) {
  const trpc = useTRPC();
  const share = Number(chosen.judgeShare);
  const valid = String(chosen.judgeShare).trim() !== "" && share >= 0 && share <= 1;
  const asked = useSettled(valid ? choiceOfFields({ ...chosen, judgeShare: share }) : null);
  const found = useQuery(trpc.judge.threshold.queryOptions(asked ?? skipToken, { retry: false }));
  if (!asked) return null;
  return (
    <p aria-live="polite" className="rounded-lg bg-panel px-3 py-2 sm:col-span-2">
      {found.error ? problemOf(found.error).message : (found.data?.sentence ?? "Reading the table's curve.")}
    </p>
  );
}
