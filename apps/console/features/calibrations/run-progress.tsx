"use client";

import { Progress } from "../../ui/progress";
import { useRunFeed } from "./use-run-feed";
import { useTimeLeft } from "./use-time-left";

/** An open run in a row of a table: bar, percent, stage, and how long still once that can be said. */
export function RunProgress({ id, label }: { id: string; label: string }) {
  const { feed, samples, connection } = useRunFeed(id, { log: false });
  const left = useTimeLeft(feed?.state === "RUNNING" && connection === "live", samples.current);
  if (!feed) return <Progress slim percent={0} label={label} />;
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
            {left === null ? null : `, ${left}`}
          </>
        )}
      </div>
    </div>
  );
}
