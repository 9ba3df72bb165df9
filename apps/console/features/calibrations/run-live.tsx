"use client";

import type { CalibrationState } from "@helm/contracts";
import { Card } from "../../ui/card";
import { count } from "../../ui/numbers";
import { Progress } from "../../ui/progress";
import { TimeAgo, useNow } from "../preferences/time";
import { duration } from "../preferences/time-words";
import type { Feed } from "./feed";
import { LogView } from "./log-view";
import { isOpen } from "./run-states";
import { StageList } from "./stage-list";
import { type Sample, timeLeft, timeLeftWords } from "./time-left";
import type { Run } from "./use-run-feed";

const TONE: Record<CalibrationState, "busy" | "good" | "bad" | "plain"> = {
  QUEUED: "plain",
  RUNNING: "busy",
  SUCCEEDED: "good",
  FAILED: "bad",
  CANCELLED: "plain",
  LOST: "plain",
};

export function RunLive({
  run,
  feed,
  state,
  samples,
}: {
  run: Run;
  feed: Feed | null;
  state: CalibrationState;
  samples: Sample[];
}) {
  const now = useNow();
  const percent = state === "SUCCEEDED" ? 100 : (feed?.percent ?? run.percent);
  const running = state === "RUNNING";
  const left = running ? timeLeft(samples, now) : null;
  const ended = run.finishedAt ?? (isOpen(state) ? new Date(now) : null);
  return (
    <>
      {run.error && !isOpen(state) ? (
        <div role="alert" className="rounded-xl border border-bad bg-bad-wash px-4 py-3 text-bad-ink">
          <p className="font-semibold">
            <code className="font-mono text-[0.8125rem]">{run.error.code}</code>
            {run.error.exitCode === null ? null : (
              <span className="font-normal"> (exit code {run.error.exitCode})</span>
            )}
          </p>
          <p className="[overflow-wrap:anywhere]">{run.error.message}</p>
        </div>
      ) : null}
      {run.waitingReason && state === "QUEUED" ? (
        <p className="rounded-xl bg-warn-wash px-4 py-2.5 text-warn-ink">Waiting: {run.waitingReason}</p>
      ) : null}
      <div className="grid gap-4 lg:grid-cols-[minmax(0,5fr)_minmax(0,7fr)]">
        <Card title="Progress">
          <div className="mb-1.5 flex flex-wrap items-baseline justify-between gap-x-3">
            <span data-testid="percent" className="text-2xl font-semibold tabular-nums">
              {Math.floor(percent)} %
            </span>
            <span className="text-ink-soft">
              {state === "QUEUED"
                ? "waiting for a worker"
                : running
                  ? left === null
                    ? "time left: not stable yet"
                    : timeLeftWords(left)
                  : run.startedAt && ended
                    ? `took ${duration(ended.getTime() - run.startedAt.getTime())}`
                    : null}
            </span>
          </div>
          <Progress percent={percent} label="Calibration" tone={TONE[state]} />
          <p className="mt-1.5 min-h-5 text-[0.8125rem] text-ink-soft">
            {running && feed?.rate
              ? `${count(Math.round(feed.rate))} ${feed.unit ?? "steps"} a second`
              : null}
            {running && run.startedAt ? (
              <>
                {feed?.rate ? ", " : ""}running since <TimeAgo at={run.startedAt} />
              </>
            ) : null}
          </p>
          <div className="mt-2">
            <StageList stage={feed?.stage ?? run.stage} state={state} />
          </div>
        </Card>
        <Card title="Log" hint={feed && feed.attempt > 1 ? `Of attempt ${feed.attempt}.` : undefined}>
          <LogView lines={feed?.lines ?? []} live={isOpen(state)} />
        </Card>
      </div>
    </>
  );
}
