"use client";

import { JUDGE_LABELS } from "@helm/contracts";
import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { parseAsString, useQueryState } from "nuqs";
import { QueryView } from "../../api/query-view";
import { type Outputs, useTRPC } from "../../api/trpc";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { Command } from "../../ui/command";
import { count, share } from "../../ui/numbers";
import { Empty } from "../../ui/states";
import { command } from "../shell/commands";
import { HELM_PAGE } from "../shell/navigation";
import { FitTable } from "./fit-table";
import { JudgeCurve } from "./judge-curve";
import { seenOf } from "./judge-words";
import { RemoveTable } from "./remove-table";

type Row = Outputs["judge"]["list"][number];

/** What may judge the pilot's answers of this pair, and what each table brings. */
export function JudgeCard({
  pairId,
  source,
  target,
  calibrationId,
  development,
}: {
  pairId: string;
  source: string;
  target: string;
  calibrationId: string | null;
  development: boolean;
}) {
  const trpc = useTRPC();
  const tables = useQuery(trpc.judge.list.queryOptions({ pairId }));
  const [shown, show] = useQueryState("judge", parseAsString);
  return (
    <Card
      title="Judge"
      hint="Which of the pilot's answers go to the target. A table is for one streaming mode and one window; a route chooses it and its threshold."
      action={<FitTable calibrationId={calibrationId} />}
    >
      <QueryView query={tables} label="Loading the judge's tables">
        {(rows) => {
          const chosen = rows.find(({ sha256 }) => shown && sha256.startsWith(shown)) ?? rows[0];
          return chosen ? (
            <div className="space-y-4">
              <ul className="divide-y divide-line">
                {rows.map((row) => (
                  <TableRow
                    key={row.id}
                    row={row}
                    shown={row.id === chosen.id}
                    onShow={() => void show(row.sha256.slice(0, 12))}
                  />
                ))}
              </ul>
              <JudgeCurve id={chosen.id} />
              <Command text={command.judge(chosen.sha256)} />
            </div>
          ) : (
            <Empty title="No table yet" command={command.fitJudge(source, target, development)}>
              Routes of this pair judge by two bounds: the mean and the least token log-probability. The first
              calibration of a pair brings tables by itself{calibrationId ? "; this one's brought none" : ""}.
            </Empty>
          );
        }}
      </QueryView>
    </Card>
  );
}

function TableRow({ row, shown, onShow }: { row: Row; shown: boolean; onShow: () => void }) {
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 py-2.5">
      <div className="min-w-0">
        <span className="flex flex-wrap items-center gap-2">
          <b className="font-semibold">{seenOf(row.streaming, row.window)}</b>
          <code className="font-mono text-[0.8125rem] text-ink-soft">{row.sha256.slice(0, 12)}</code>
          {row.stale ? <Badge tone="warn">of other weights</Badge> : null}
        </span>
        <span className="text-[0.8125rem] text-ink-soft">
          {JUDGE_LABELS[row.label]}; area under ROC {share(row.auc)}; {count(row.requests)} requests.{" "}
          {row.usedBy.length > 0 ? (
            <Link href={HELM_PAGE} className="underline">
              Judges {row.usedBy.join(", ")}
            </Link>
          ) : (
            "No route judges by it."
          )}
        </span>
      </div>
      <span className="flex gap-2">
        <Button size="small" kind={shown ? "plain" : "quiet"} aria-pressed={shown} onClick={onShow}>
          Curve<span className="sr-only"> of {row.sha256.slice(0, 12)}</span>
        </Button>
        <RemoveTable row={row} />
      </span>
    </li>
  );
}
