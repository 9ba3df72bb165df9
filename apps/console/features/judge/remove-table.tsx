"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { tellProblem, tellStored } from "../../api/tell";
import { type Outputs, useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { ConfirmDialog } from "../../ui/dialog";
import { useBlocked } from "../session/use-session";
import { seenOf } from "./judge-words";

export function RemoveTable({ row }: { row: Outputs["judge"]["list"][number] }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const blocked = useBlocked("operator");
  const name = row.sha256.slice(0, 12);
  const used = row.usedBy.length > 0 ? `${row.usedBy.join(", ")} judges by it.` : null;
  const remove = useMutation(
    trpc.judge.remove.mutationOptions({
      onSuccess: () => tellStored(`Judge table ${name} is removed`, "Routes are as they were."),
      onError: (error) => tellProblem(`Judge table ${name} was not removed`, error),
      onSettled: () => {
        setOpen(false);
        void client.invalidateQueries({ queryKey: trpc.judge.pathKey() });
      },
    }),
  );
  return (
    <>
      <Button size="small" kind="quiet" blockedBecause={blocked ?? used} onClick={() => setOpen(true)}>
        Remove<span className="sr-only"> the judge table {name}</span>
      </Button>
      <ConfirmDialog
        open={open}
        onOpenChange={setOpen}
        title={`Remove judge table ${name}?`}
        description={`It judges ${seenOf(row.streaming, row.window)}, and no route judges by it. The same answers would give the same table again.`}
        confirm="Remove it"
        kind="danger"
        busy={remove.isPending}
        onConfirm={() => remove.mutate({ id: row.id })}
      />
    </>
  );
}
