"use client";

import { QueryView } from "../../api/query-view";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { Progress } from "../../ui/progress";
import { duration } from "../preferences/time-words";
import { LogView } from "./log-view";
import { StageList } from "./stage-list";
import { useAttemptLog } from "./use-attempt-log";
import type { Run } from "./use-run-feed";

/** An attempt that a newer one took the place of, as it ended: how far it came and what it said. */
export function OlderAttempt({
  run,
  attempt,
  onNewest,
}: {
  run: Run;
  attempt: Run["attempts"][number];
  onNewest: () => void;
}) {
  const log = useAttemptLog(run.id, attempt.number);
  // A newer attempt exists, so it goes on no more, whatever it was when it was left.
  const state = attempt.state === "RUNNING" ? "LOST" : attempt.state;
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-xl bg-warn-wash px-4 py-2.5 text-warn-ink">
        This is attempt {attempt.number} of {run.attempt}; a newer one took its place.
        <Button size="small" onClick={onNewest}>
          Show the newest
        </Button>
      </p>
      <QueryView query={log} label="Loading the attempt" rows={4}>
        {({ lines, stage, percent }) => (
          <div className="grid gap-4 lg:grid-cols-[minmax(0,5fr)_minmax(0,7fr)]">
            <Card title={`Progress of attempt ${attempt.number}`}>
              <div className="mb-1.5 flex flex-wrap items-baseline justify-between gap-x-3">
                <span className="text-2xl font-semibold tabular-nums">{Math.floor(percent)} %</span>
                <span className="text-ink-soft">
                  {attempt.finishedAt
                    ? `took ${duration(attempt.finishedAt.getTime() - attempt.startedAt.getTime())}`
                    : "never said how it ended"}
                </span>
              </div>
              <Progress percent={percent} label={`Attempt ${attempt.number}`} tone="plain" />
              <div className="mt-3">
                <StageList stage={stage} state={state} />
              </div>
            </Card>
            <Card title="Log" hint={`Of attempt ${attempt.number}, on ${attempt.worker}.`}>
              <LogView lines={lines} empty="This attempt ended before it said anything." />
            </Card>
          </div>
        )}
      </QueryView>
    </>
  );
}
