"use client";

import { Progress } from "../../ui/progress";
import { useNow } from "../preferences/time";
import { timeLeft, timeLeftWords } from "./time-left";
import { useRunFeed } from "./use-run-feed";

/** An open run in a row of a table: bar, percent, stage, and how long still once that can be said. */
export function RunProgress({ id, label }: { id: string; label: string }) {
  const { feed, samples } = useRunFeed(id, { log: false });
  const now = useNow();
  if (!feed) return <Progress slim percent={0} label={label} />;
  const left = feed.state === "RUNNING" ? timeLeft(samples.current, now) : null;
  return (
    <div className="min-w-0">
      <Progress slim percent={feed.percent} label={label} />
      <div className="mt-1 text-[0.8125rem] text-ink-soft">
        {feed.state === "QUEUED" ? (
          "waiting for a worker"
        ) : (
          <>
            <span className="font-medium text-ink tabular-nums">{Math.floor(feed.percent)} %</span>{" "}
            {feed.stage}
            {left === null ? null : `, ${timeLeftWords(left)}`}
          </>
        )}
      </div>
    </div>
  );
}
