"use client";

import { useQuery } from "@tanstack/react-query";
import { QueryView } from "../../api/query-view";
import { useTRPC } from "../../api/trpc";
import { ButtonLink } from "../../ui/button";
import { Card, PageHeader } from "../../ui/card";
import { Empty } from "../../ui/states";
import { Calibrate } from "../calibrations/calibrate-dialog";
import { RunProgress } from "../calibrations/run-progress";
import { AccuracyCard } from "../evaluations/accuracy-card";
import { JudgeCard } from "../judge/judge-card";
import { PlacementOfPair } from "../placement/placement-list";
import { DriftCard } from "../scores/drift-card";
import { ScoreReport } from "../scores/score-report";
import { command } from "../shell/commands";
import { useNameLeaf } from "../shell/leaf";
import { Terminal } from "../shell/terminal-card";
import { useCalibrateCommand } from "../shell/use-calibrate-command";
import { MappersCard } from "./mappers-card";
import { ModelsCard } from "./models-card";
import { type Pair, pairTitle, shownScore, statusSentence } from "./pair-words";
import { RegisterPair } from "./register-dialog";
import { RunsCard } from "./runs-card";
import { Calibrating, Marks, PairStatusBadge } from "./status-badge";

export function PairPage({ id }: { id: string }) {
  const trpc = useTRPC();
  const pair = useQuery(trpc.pair.get.queryOptions({ id }));
  return (
    <QueryView query={pair} label="Loading the pair" rows={5} back={{ href: "/pairs", name: "All pairs" }}>
      {(data) => <PairDetail pair={data} />}
    </QueryView>
  );
}

function PairDetail({ pair }: { pair: Pair }) {
  const calibrate = useCalibrateCommand();
  const name = pairTitle(pair);
  useNameLeaf(name);
  const score = shownScore(pair);
  return (
    <>
      <PageHeader
        title={name}
        badge={
          <>
            <PairStatusBadge status={pair.status} />
            {pair.calibrating ? <Calibrating /> : null}
            <Marks control={pair.control} developmentOnly={pair.developmentOnly} />
          </>
        }
        lead={
          <>
            {score ? score.sentence : null} {statusSentence(pair)}
            {score?.developmentOnly ? " Measured on a CPU: it holds on development nodes only." : null}
          </>
        }
        actions={<Actions pair={pair} />}
      />
      {pair.calibrating ? (
        <Card
          title="A calibration is on its way"
          action={
            <ButtonLink href={`/calibrations/${pair.calibrating}`} size="small">
              Open run
            </ButtonLink>
          }
        >
          <RunProgress id={pair.calibrating} label={`Calibration of ${name}`} />
        </Card>
      ) : null}
      {score ? <Measured pair={pair} runId={score.calibrationId} /> : <NotMeasured pair={pair} />}
      <RunsCard pair={pair} />
      {pair.control ? null : (
        <JudgeCard
          pairId={pair.id}
          source={pair.source.id}
          target={pair.target.id}
          calibrationId={score?.calibrationId ?? null}
          development={pair.developmentOnly}
        />
      )}
      {pair.control || !score ? null : <DriftCard pair={pair} />}
      {pair.control ? null : (
        <AccuracyCard
          pairId={pair.id}
          command={
            pair.active
              ? command.evaluate(pair.source.id, pair.target.id, pair.active.sha256, pair.developmentOnly)
              : undefined
          }
        />
      )}
      <Card title="Placement">
        <PlacementOfPair pairId={pair.id} />
      </Card>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <MappersCard pairId={pair.id} />
        <ModelsCard pair={pair} />
      </div>
      <Terminal
        commands={[
          command.pair(pair.source.id, pair.target.id),
          calibrate(pair.source.id, pair.target.id),
          command.mappers(pair.source.id, pair.target.id),
        ]}
      />
    </>
  );
}

function Actions({ pair }: { pair: Pair }) {
  const name = pairTitle(pair);
  return (
    <>
      {pair.control ? null : pair.reverseId ? (
        <ButtonLink href={`/pairs/${pair.reverseId}`}>Reverse pair</ButtonLink>
      ) : (
        <RegisterPair source={pair.target.id} target={pair.source.id} label="Register the reverse pair" />
      )}
      {pair.calibrating ? (
        <ButtonLink href={`/calibrations/${pair.calibrating}`} kind="primary">
          Open run
        </ButtonLink>
      ) : (
        <Calibrate pairId={pair.id} pairName={name} again={pair.measuredAt !== null} inAddress="calibrate" />
      )}
    </>
  );
}

function Measured({ pair, runId }: { pair: Pair; runId: string }) {
  const trpc = useTRPC();
  const run = useQuery(trpc.calibration.get.queryOptions({ id: runId }));
  return (
    <QueryView query={run} label="Loading the score" rows={6}>
      {(row) =>
        row.assessment && row.scores ? (
          <ScoreReport
            run={row}
            assessment={row.assessment}
            scores={row.scores}
            models={pair}
            mapperBytes={pair.active?.bytes}
          />
        ) : null
      }
    </QueryView>
  );
}

function NotMeasured({ pair }: { pair: Pair }) {
  const calibrate = useCalibrateCommand();
  if (pair.calibrating) return null;
  return (
    <Card>
      <Empty title="Never measured" command={calibrate(pair.source.id, pair.target.id)}>
        Calibrate it: a run fits a mapper, scores it on probes it never saw, and decides by the gate of{" "}
        {pair.gate.toFixed(2)} whether the pair may be used.
      </Empty>
    </Card>
  );
}
