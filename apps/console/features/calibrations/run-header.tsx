"use client";

import type { CalibrationState } from "@helm/contracts";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { Connection } from "../../api/quiet";
import { tellProblem, tellStored } from "../../api/tell";
import { useTRPC } from "../../api/trpc";
import { Badge } from "../../ui/badge";
import { Button, ButtonLink } from "../../ui/button";
import { PageHeader } from "../../ui/card";
import { ConfirmDialog } from "../../ui/dialog";
import { useAnnounce } from "../../ui/live-region";
import { TimeAgo } from "../preferences/time";
import { useBlocked } from "../session/use-session";
import { Calibrate } from "./calibrate-dialog";
import { ConnectionWord } from "./connection-word";
import { mayRetryHelp } from "./failure-words";
import { isFinal, isOpen, mayRetry } from "./run-states";
import { RunState, STATE, VerdictBadge } from "./state-badge";
import type { Run } from "./use-run-feed";

export function RunHeader({
  run,
  state,
  connection,
  heardAt,
}: {
  run: Run;
  state: CalibrationState;
  connection: Connection;
  heardAt: number | null;
}) {
  const name = `${run.sourceModel} to ${run.targetModel}`;
  useSayState(state);
  const retryHelps = mayRetryHelp(run.error);
  return (
    <PageHeader
      title={`Calibration of ${name}`}
      badge={
        <>
          <RunState state={state} />
          <VerdictBadge verdict={run.verdict} />
          {run.developmentOnly ? <Badge tone="warn">development</Badge> : null}
          {run.imported ? <Badge tone="warn">imported</Badge> : null}
          <ConnectionWord connection={connection} heardAt={heardAt} ended={isFinal(state)} />
        </>
      }
      lead={
        <>
          {run.assessment && state === "SUCCEEDED" ? run.assessment.sentence : STATE[state].sentence}{" "}
          <span className="text-ink-soft">
            {run.attempt > 1 ? `Attempt ${run.attempt}. ` : ""}
            {run.imported ? "Imported" : "Asked for"} <TimeAgo at={run.createdAt} /> by {run.startedBy}.
            {run.imported ? " Its counts are the word of the host that it ran on." : null}
          </span>
        </>
      }
      actions={
        <>
          <ButtonLink href={`/pairs/${run.pairId}`}>Open the pair</ButtonLink>
          {isOpen(state) ? <Cancel id={run.id} asked={run.cancelRequested} /> : null}
          {mayRetry(state) ? <Retry id={run.id} primary={retryHelps} /> : null}
          {isOpen(state) ? null : (
            <Calibrate
              pairId={run.pairId}
              pairName={name}
              again
              label="Clone with edits"
              primary={mayRetry(state) && !retryHelps}
              defaults={{
                method: run.method,
                k: run.k,
                corpus: run.corpus,
                device: run.device,
                room: run.room,
                options: run.options,
              }}
            />
          )}
        </>
      }
    />
  );
}

/** A change of state is said once; the percent is not read out. */
function useSayState(state: CalibrationState): void {
  const announce = useAnnounce();
  const before = useRef(state);
  useEffect(() => {
    if (before.current !== state) announce(`The calibration is ${state}. ${STATE[state].sentence}`);
    before.current = state;
  }, [state, announce]);
}

function Cancel({ id, asked }: { id: string; asked: boolean }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const cancel = useMutation(
    trpc.calibration.cancel.mutationOptions({
      onSuccess: ({ state }) =>
        tellStored(
          state === "CANCELLED" ? "The calibration is cancelled" : "Cancelling: the worker is told to stop",
        ),
      onError: (error) => tellProblem("The calibration was not cancelled", error),
      onSettled: () => {
        setOpen(false);
        void client.invalidateQueries({ queryKey: trpc.calibration.pathKey() });
        void client.invalidateQueries({ queryKey: trpc.pair.pathKey() });
      },
    }),
  );
  return (
    <>
      <Button
        blockedBecause={useBlocked("operator") ?? (asked ? "The worker is stopping already." : null)}
        onClick={() => setOpen(true)}
      >
        {asked ? "Cancelling" : "Cancel"}
      </Button>
      <ConfirmDialog
        open={open}
        onOpenChange={setOpen}
        title="Cancel this calibration?"
        description="The worker is asked to end the job; what does not stop is killed. What was fitted so far is thrown away. The pair keeps the mapper and the status it has."
        confirm="Cancel the calibration"
        kind="danger"
        busy={cancel.isPending}
        onConfirm={() => cancel.mutate({ id })}
      />
    </>
  );
}

/** Not the first thing to do where it cannot mend what went wrong. */
function Retry({ id, primary }: { id: string; primary: boolean }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const retry = useMutation(
    trpc.calibration.retry.mutationOptions({
      onSuccess: () => tellStored("The calibration is queued again"),
      onError: (error) => tellProblem("The calibration was not queued again", error),
      onSettled: () => {
        void client.invalidateQueries({ queryKey: trpc.calibration.pathKey() });
        void client.invalidateQueries({ queryKey: trpc.pair.pathKey() });
      },
    }),
  );
  return (
    <Button
      kind={primary ? "primary" : "plain"}
      busy={retry.isPending}
      blockedBecause={useBlocked("operator")}
      onClick={() => retry.mutate({ id })}
    >
      Retry
    </Button>
  );
}
