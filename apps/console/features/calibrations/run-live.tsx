"use client";

import { type CalibrationState, isHubCorpus } from "@helm/contracts";
import type { Connection } from "../../api/quiet";
import { Card } from "../../ui/card";
import { count } from "../../ui/numbers";
import { Progress } from "../../ui/progress";
import { TimeAgo, useNow } from "../preferences/time";
import { duration } from "../preferences/time-words";
import { nextStep, pageWords } from "./failure-words";
import type { Feed } from "./feed";
import { LogView } from "./log-view";
import { isOpen } from "./run-states";
import { StageList } from "./stage-list";
import type { Sample } from "./time-left";
import type { Run } from "./use-run-feed";
import { useTimeLeft } from "./use-time-left";

const TONE: Record<CalibrationState, "busy" | "good" | "bad" | "plain"> = {
  QUEUED: "plain",
  RUNNING: "busy",
  SUCCEEDED: "good",
  FAILED: "bad",
  CANCELLED: "plain",
  LOST: "plain",
};

type Props = {
  run: Run;
  feed: Feed | null;
  state: CalibrationState;
  samples: Sample[];
  connection: Connection;
  logRead: boolean;
  /** When the row was read: times left in it count from then. */
  readAt: number;
};

export function RunLive({ run, feed, state, samples, connection, logRead, readAt }: Props) {
  const percent = state === "SUCCEEDED" ? 100 : (feed?.percent ?? run.percent);
  const stage = feed?.stage ?? run.stage;
  return (
    <>
      <Problem run={run} state={state} />
      <Waiting run={run} state={state} />
      <Cancelling run={run} state={state} readAt={readAt} />
      <div className="grid gap-4 lg:grid-cols-[minmax(0,5fr)_minmax(0,7fr)]">
        <Card title="Progress">
          <div className="mb-1.5 flex flex-wrap items-baseline justify-between gap-x-3">
            <span data-testid="percent" className="text-2xl font-semibold tabular-nums">
              {Math.floor(percent)} %
            </span>
            <span className="text-ink-soft">
              <HowLong run={run} state={state} samples={samples} fresh={connection === "live"} />
            </span>
          </div>
          <Progress percent={percent} label="Calibration" tone={TONE[state]} />
          <p className="mt-1.5 min-h-5 text-[0.8125rem] text-ink-soft">
            <Doing run={run} feed={feed} state={state} stage={stage} />
          </p>
          <div className="mt-2">
            <StageList stage={stage} state={state} />
          </div>
        </Card>
        <Card title="Log" hint={feed && feed.attempt > 1 ? `Of attempt ${feed.attempt}.` : undefined}>
          <LogView lines={feed?.lines ?? []} empty={emptyLog(state, feed, logRead, connection)} />
        </Card>
      </div>
    </>
  );
}

/** Why no line is there: four different things, and only one of them is that none was written. */
export function emptyLog(
  state: CalibrationState,
  feed: { attempt: number } | null,
  logRead: boolean,
  connection: Connection,
): string {
  if (feed && feed.attempt === 0) {
    return state === "QUEUED"
      ? "No worker has taken it yet; its log begins when one does."
      : "No worker ever took it, so there is no log.";
  }
  if (!logRead)
    return connection === "live"
      ? "Reading the log."
      : "The log could not be read yet; it is asked for again.";
  return isOpen(state)
    ? "No line yet; they appear here as the worker writes them."
    : "The worker sent no line before the run ended.";
}

function Problem({ run, state }: Pick<Props, "run" | "state">) {
  if (!run.error || isOpen(state)) return null;
  const step = nextStep(run.error);
  return (
    <div role="alert" className="rounded-xl border border-bad bg-bad-wash px-4 py-3 text-bad-ink">
      <p className="font-semibold">
        <code className="font-mono text-[0.8125rem]">{run.error.code}</code>
        {run.error.exitCode === null ? null : (
          <span className="font-normal"> (exit code {run.error.exitCode})</span>
        )}
      </p>
      <p className="[overflow-wrap:anywhere]">{pageWords(run.error.message)}</p>
      {step ? <p className="mt-1 font-medium">{step}</p> : null}
    </div>
  );
}

function Waiting({ run, state }: Pick<Props, "run" | "state">) {
  if (!run.waitingReason || !isOpen(state)) return null;
  return (
    <p role="status" className="rounded-xl bg-warn-wash px-4 py-2.5 text-warn-ink [overflow-wrap:anywhere]">
      Waiting: {run.waitingReason}
      {run.waitingSince ? (
        <span className="block text-[0.8125rem]">
          For this reason since <TimeAgo at={run.waitingSince} />, queued since <TimeAgo at={run.createdAt} />
          .
        </span>
      ) : null}
    </p>
  );
}

/** Gracefully first; what does not end is killed, and a worker that is gone is not waited for. */
function Cancelling({ run, state, readAt }: Pick<Props, "run" | "state" | "readAt">) {
  const now = useNow();
  if (!run.cancelRequested || state !== "RUNNING") return null;
  const left = run.cancelForcedInMs === null ? null : run.cancelForcedInMs - Math.max(0, now - readAt);
  return (
    <p role="status" className="rounded-xl bg-warn-wash px-4 py-2.5 text-warn-ink">
      Cancelling
      {run.cancelRequestedAt ? (
        <>
          , asked <TimeAgo at={run.cancelRequestedAt} />
        </>
      ) : null}
      : the worker ends the job and all its children, by force where they do not stop by themselves.
      {left === null
        ? ""
        : left > 0
          ? ` If the worker does not answer, the run is ended without it in ${duration(left)}.`
          : " The worker did not answer in time: the run is being ended without it."}
    </p>
  );
}

function HowLong({
  run,
  state,
  samples,
  fresh,
}: Pick<Props, "run" | "state" | "samples"> & { fresh: boolean }) {
  const now = useNow();
  const left = useTimeLeft(state === "RUNNING" && fresh, samples);
  if (state === "QUEUED") return "waiting for a worker";
  if (state === "RUNNING") {
    if (!fresh) return "time left: not known without a connection";
    return left ?? "time left: not stable yet";
  }
  const ended = run.finishedAt ?? (isOpen(state) ? new Date(now) : null);
  return run.startedAt && ended ? `took ${duration(ended.getTime() - run.startedAt.getTime())}` : null;
}

function Doing({
  run,
  feed,
  state,
  stage,
}: Pick<Props, "run" | "feed" | "state"> & { stage: string | null }) {
  if (state !== "RUNNING") return null;
  const rate = feed?.rate ? `${count(Math.round(feed.rate))} ${feed.unit ?? "steps"} a second, ` : "";
  return (
    <>
      {rate}
      {!rate && isFetching(run, stage) ? `${fetching(run.corpus)} ` : ""}
      running since <TimeAgo at={run.startedAt} />
    </>
  );
}

/** Before anything is captured a data set of the hub is fetched, which takes as long as the line to it does. */
function isFetching({ corpus }: Run, stage: string | null): boolean {
  return isHubCorpus(corpus) && (stage === null || stage === "inspect");
}

function fetching(corpus: string): string {
  const size = corpus.startsWith("fineweb-edu") ? " (about 2 GB the first time)" : "";
  return `Downloading ${corpus}${size} where the worker does not have it yet; the percent goes on afterwards.`;
}
