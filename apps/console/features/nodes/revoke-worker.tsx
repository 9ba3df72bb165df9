"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { tellProblem, tellStored } from "../../api/tell";
import { useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { ConfirmDialog } from "../../ui/dialog";
import { useBlocked } from "../session/use-session";
import type { Worker } from "./node-words";

export function RevokeWorker({ worker }: { worker: Worker }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const [asked, setAsked] = useState(false);
  const revoke = useMutation(
    trpc.host.revoke.mutationOptions({
      onSuccess: () => {
        setAsked(false);
        tellStored(`${worker.name} is revoked`, "It can join again with a new token only.");
      },
      onError: (error) => tellProblem(`${worker.name} was not revoked`, error),
      onSettled: () => client.invalidateQueries(),
    }),
  );
  return (
    <>
      <Button size="small" blockedBecause={useBlocked("admin")} onClick={() => setAsked(true)}>
        Revoke<span className="sr-only"> {worker.name}</span>
      </Button>
      <ConfirmDialog
        open={asked}
        onOpenChange={setAsked}
        title={`Revoke ${worker.name}?`}
        description={`Its connection is cut at once and its credential opens nothing any more.${worker.runningCalibrationId ? " The calibration it runs is LOST and can be retried elsewhere." : ""} This cannot be undone; the host joins again with a new token.`}
        confirm="Revoke"
        kind="danger"
        busy={revoke.isPending}
        onConfirm={() => revoke.mutate({ id: worker.id })}
      />
    </>
  );
}
