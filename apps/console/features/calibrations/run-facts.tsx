import { optionFlags } from "@helm/contracts";
import { Card, Facts } from "../../ui/card";
import { TimeAgo } from "../preferences/time";
import { duration } from "../preferences/time-words";
import { RunState } from "./state-badge";
import type { Run } from "./use-run-feed";

export function RunFacts({ run }: { run: Run }) {
  return (
    <Card title="What was asked">
      <Facts
        rows={[
          ["Method", `${run.method}, k ${run.k}`],
          ["Corpus", <CorpusUsed key="c" run={run} />],
          ["Options", optionFlags(run.options).join(" ") || "none"],
          [
            "Device",
            run.developmentOnly
              ? `${run.device} (development: its mapper serves on development nodes only)`
              : run.device,
          ],
          ["Queued", <TimeAgo key="q" at={run.createdAt} />],
          ["Started", <TimeAgo key="s" at={run.startedAt} none="not yet" />],
          ["Ended", <TimeAgo key="e" at={run.finishedAt} none="not yet" />],
          [
            "Mapper",
            run.mapperSha256 ? (
              <code key="m" className="font-mono text-[0.8125rem] break-all" title={run.mapperSha256}>
                {run.mapperSha256}
              </code>
            ) : (
              "none written"
            ),
          ],
        ]}
      />
    </Card>
  );
}

/** Its name as asked for, and what it was then: names may come to mean other texts. */
function CorpusUsed({ run: { corpus, corpusUsed } }: { run: Run }) {
  const digests = [
    ["sha256", corpusUsed?.sha256],
    ["commit", corpusUsed?.hub?.commit],
    ["before", corpusUsed?.changed_from],
  ] as const;
  return (
    <>
      {corpus}
      {digests.map(([name, digest]) =>
        digest ? (
          <span key={name} className="block text-[0.8125rem] text-ink-soft">
            {name}{" "}
            <code className="font-mono" title={digest}>
              {digest.slice(0, 12)}
            </code>
          </span>
        ) : null,
      )}
    </>
  );
}

export function Attempts({ run }: { run: Run }) {
  return (
    <Card title="Attempts" hint="Each is one worker's lease; a newer one fences the older.">
      {run.attempts.length === 0 ? (
        <p className="text-ink-soft">No worker has taken it yet.</p>
      ) : (
        <ol className="divide-y divide-line">
          {run.attempts.map((attempt) => (
            <li key={attempt.id} className="py-2.5">
              <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
                <span className="font-medium">Attempt {attempt.number}</span>
                <RunState state={attempt.state} />
                <span className="text-ink-soft">
                  on {attempt.worker}, <TimeAgo at={attempt.startedAt} />
                  {attempt.finishedAt
                    ? `, took ${duration(attempt.finishedAt.getTime() - attempt.startedAt.getTime())}`
                    : ""}
                </span>
              </div>
              {attempt.error ? (
                <p className="mt-1 text-[0.8125rem] text-ink-soft">
                  <code className="font-mono">{attempt.error.code}</code> {attempt.error.message}
                </p>
              ) : null}
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}
