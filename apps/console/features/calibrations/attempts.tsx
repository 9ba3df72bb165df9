import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { TimeAgo } from "../preferences/time";
import { duration } from "../preferences/time-words";
import { pageWords } from "./failure-words";
import { RunState } from "./state-badge";
import type { Run } from "./use-run-feed";

/** Every attempt that there was; the one whose progress and log are on the page says so. */
export function Attempts({
  run,
  shown,
  onShow,
}: {
  run: Run;
  shown: number;
  onShow: (number: number) => void;
}) {
  const attempts = [...run.attempts].reverse();
  return (
    <Card
      title="Attempts"
      hint="Each is one worker's lease; a newer one fences the older. Choose one to see its progress and log."
    >
      {attempts.length === 0 ? (
        <p className="text-ink-soft">No worker has taken it yet.</p>
      ) : (
        <ol className="divide-y divide-line">
          {attempts.map((attempt) => (
            <li key={attempt.id} className="py-2.5" aria-current={attempt.number === shown || undefined}>
              <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
                <span className="font-medium">Attempt {attempt.number}</span>
                <RunState state={attempt.state} />
                <span className="text-ink-soft">
                  on {attempt.worker}, <TimeAgo at={attempt.startedAt} />
                  {attempt.finishedAt
                    ? `, took ${duration(attempt.finishedAt.getTime() - attempt.startedAt.getTime())}`
                    : ""}
                </span>
                {attempts.length > 1 ? (
                  <Button
                    size="small"
                    kind={attempt.number === shown ? "plain" : "quiet"}
                    className="ml-auto"
                    aria-pressed={attempt.number === shown}
                    onClick={() => onShow(attempt.number)}
                  >
                    {attempt.number === shown ? "Shown" : "Show"}
                    <span className="sr-only"> attempt {attempt.number}</span>
                  </Button>
                ) : null}
              </div>
              {attempt.error ? (
                <p className="mt-1 text-[0.8125rem] [overflow-wrap:anywhere] text-ink-soft">
                  <code className="font-mono">{attempt.error.code}</code> {pageWords(attempt.error.message)}
                </p>
              ) : null}
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}
