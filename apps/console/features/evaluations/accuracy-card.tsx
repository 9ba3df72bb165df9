"use client";

import type { Evaluation, EvaluationTask } from "@helm/contracts";
import { useQuery } from "@tanstack/react-query";
import { QueryView } from "../../api/query-view";
import { type Outputs, useTRPC } from "../../api/trpc";
import { Badge } from "../../ui/badge";
import { Card } from "../../ui/card";
import { FigureTable } from "../../ui/chart-frame";
import { count, percent, plural } from "../../ui/numbers";
import { Empty } from "../../ui/states";
import { TimeAgo } from "../preferences/time";

type Recorded = Outputs["evaluation"]["list"][number];

/** Task scores through the transferred cache over the target's own: another number than retention, under its own name. */
export function AccuracyCard({ pairId, command }: { pairId: string; command?: string }) {
  const trpc = useTRPC();
  const evaluations = useQuery(trpc.evaluation.list.queryOptions({ pairId }));
  return (
    <Card
      title="Accuracy retention"
      hint="What is left of the target's task scores when it continues from the carried cache. Not the gate's number."
    >
      <QueryView query={evaluations} label="Loading evaluations">
        {(rows) => {
          const [newest, ...older] = rows;
          return newest ? (
            <>
              <Result recorded={newest} />
              {older.length > 0 ? <Older rows={older} /> : null}
            </>
          ) : (
            <Empty title="Not evaluated" command={command}>
              An evaluation answers tasks three times: the pilot, the target, and the target on the pilot's
              cache. Once on that host,{" "}
              <code className="font-mono">npx lifeboat helm evaluate --install</code> fetches the harness.
            </Empty>
          );
        }}
      </QueryView>
    </Card>
  );
}

function Result({ recorded }: { recorded: Recorded }) {
  const { result, mapperSha256, mapperState, developmentOnly, recordedBy, createdAt } = recorded;
  return (
    <>
      <div className="mb-3 flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <span className="text-2xl font-semibold tabular-nums">
          {result.mean ? percent(result.mean.value) : "no mean"}
        </span>
        {result.mean ? (
          <span className="text-ink-soft">
            {percent(result.mean.low)} to {percent(result.mean.high)}, mean over{" "}
            {plural(result.mean.tasks, "task")}
          </span>
        ) : null}
        {developmentOnly ? <Badge tone="warn">development</Badge> : null}
      </div>
      <FigureTable
        caption="Accuracy by task"
        head={["Task", "Pilot", "Target", "Transferred", "Accuracy retention", "Interval", "Documents"]}
        rows={result.tasks.map(taskRow)}
      />
      <Warnings result={result} />
      <p className="mt-3 text-[0.8125rem] text-ink-soft">
        Through mapper <code className="font-mono">{mapperSha256.slice(0, 8)}</code> ({mapperState}) on{" "}
        {result.device}
        {result.limit === null ? "" : `, at most ${count(result.limit)} documents a task`}; recorded{" "}
        <TimeAgo at={createdAt} /> by {recordedBy}.
      </p>
    </>
  );
}

function taskRow(task: EvaluationTask) {
  const score = (value: number) => (task.higher_is_better ? percent(value) : value.toFixed(2));
  const kept = task.accuracy_retention;
  return [
    <span key={task.task} className={task.group ? "pl-3" : ""}>
      {task.task} <span className="text-ink-soft">{task.metric}</span>
    </span>,
    score(task.pilot),
    score(task.target),
    score(task.transferred),
    kept ? percent(kept.value) : (task.left_out ?? "says nothing"),
    kept ? `${percent(kept.low)} to ${percent(kept.high)}` : "",
    count(task.n),
  ];
}

function Warnings({ result }: { result: Evaluation }) {
  if (result.warnings.length === 0) return null;
  return (
    <ul className="mt-3 space-y-2">
      {result.warnings.map(({ code, task, message }) => (
        <li key={task} className="rounded-lg bg-warn-wash px-3 py-2 text-[0.8125rem] text-warn-ink">
          <b className="font-semibold">{code}</b> ({task}): {message}
        </li>
      ))}
    </ul>
  );
}

function Older({ rows }: { rows: Recorded[] }) {
  return (
    <details className="mt-3">
      <summary className="font-medium">{plural(rows.length, "older evaluation")}</summary>
      <ul className="mt-2 divide-y divide-line">
        {rows.map(({ id, result, mapperSha256, createdAt }) => (
          <li key={id} className="flex flex-wrap justify-between gap-x-4 py-2 tabular-nums">
            <span>
              <TimeAgo at={createdAt} />, mapper{" "}
              <code className="font-mono text-[0.8125rem]">{mapperSha256.slice(0, 8)}</code>
            </span>
            <span>{result.mean ? percent(result.mean.value) : "no mean"}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
