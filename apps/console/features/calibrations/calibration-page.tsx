"use client";

import { useQuery } from "@tanstack/react-query";
import { parseAsInteger, useQueryState } from "nuqs";
import { QueryView } from "../../api/query-view";
import { useTRPC } from "../../api/trpc";
import { ScoreReport } from "../scores/score-report";
import { command } from "../shell/commands";
import { useNameLeaf } from "../shell/leaf";
import { Terminal } from "../shell/terminal-card";
import { Attempts } from "./attempts";
import { OlderAttempt } from "./older-attempt";
import { RunFacts } from "./run-facts";
import { RunHeader } from "./run-header";
import { RunLive } from "./run-live";
import { useRunFeed } from "./use-run-feed";

export function CalibrationPage({ id }: { id: string }) {
  const { run, feed, connection, heardAt, samples, logRead } = useRunFeed(id, { log: true });
  const [attempt, choose] = useQueryState("attempt", parseAsInteger.withOptions({ history: "push" }));
  const trpc = useTRPC();
  const pair = useQuery({
    ...trpc.pair.get.queryOptions({ id: run.data?.pairId ?? "" }),
    enabled: run.data !== undefined,
  });
  useNameLeaf(run.data ? `${run.data.sourceModel} to ${run.data.targetModel}` : undefined);
  return (
    <QueryView
      query={run}
      label="Loading the calibration"
      rows={5}
      back={{ href: "/calibrations", name: "All calibrations" }}
    >
      {(row) => {
        const state = feed?.state ?? row.state;
        const older = row.attempts.find(({ number }) => number === attempt && number !== row.attempt);
        const live = older ? (
          <OlderAttempt run={row} attempt={older} onNewest={() => void choose(null)} />
        ) : (
          <RunLive
            run={row}
            feed={feed}
            state={state}
            samples={samples.current}
            connection={connection}
            logRead={logRead}
            readAt={run.dataUpdatedAt}
          />
        );
        return (
          <>
            <RunHeader run={row} state={state} connection={connection} heardAt={heardAt} />
            {state === "SUCCEEDED" ? null : live}
            {row.assessment && row.scores ? (
              <ScoreReport run={row} assessment={row.assessment} scores={row.scores} models={pair.data} />
            ) : null}
            {/* While it runs, and where it failed, that is what one comes for; afterwards the score is. */}
            {state === "SUCCEEDED" ? live : null}
            <div className="grid items-start gap-4 lg:grid-cols-2">
              <RunFacts run={row} />
              <Attempts
                run={row}
                shown={older?.number ?? row.attempt}
                onShow={(number) => void choose(number === row.attempt ? null : number)}
              />
            </div>
            <Terminal
              commands={[
                command.calibration(row.id),
                command.calibrationLogs(row.id),
                command.calibrate(row.sourceModel, row.targetModel, row),
              ]}
            />
          </>
        );
      }}
    </QueryView>
  );
}
