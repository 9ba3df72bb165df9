"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { problemOf } from "../../api/errors";
import { QueryView } from "../../api/query-view";
import { tellStored } from "../../api/tell";
import { useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { Command } from "../../ui/command";
import { Dialog } from "../../ui/dialog";
import { TextField } from "../../ui/field";
import { useBlocked } from "../session/use-session";
import { command } from "../shell/commands";

/** Says what would change before anything does, and names every cause where old content can no longer be used. */
export function Rollback({ generation, newest }: { generation: number; newest: number }) {
  const [open, setOpen] = useState(false);
  const blocked = useBlocked("admin");
  return (
    <>
      <Button size="small" blockedBecause={blocked} onClick={() => setOpen(true)}>
        Roll back<span className="sr-only"> to generation {generation}</span>
      </Button>
      {open ? <Question generation={generation} newest={newest} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function Question({
  generation,
  newest: newestNow,
  onClose,
}: {
  generation: number;
  newest: number;
  onClose: () => void;
}) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const [note, setNote] = useState("");
  // What this person was shown: a change while the question is open is told, and not decided on unseen.
  const [newest, setNewest] = useState(newestNow);
  const diff = useQuery(trpc.snapshot.diff.queryOptions({ from: newest, to: generation }));
  const rollback = useMutation(
    trpc.snapshot.rollback.mutationOptions({
      onSuccess: (stored) => {
        onClose();
        tellStored(
          `Generation ${stored.generation} says what ${stored.rolledBackTo} said`,
          "It is held until somebody releases it.",
        );
      },
      onSettled: () => client.invalidateQueries(),
    }),
  );
  const problem = rollback.error ? problemOf(rollback.error) : null;
  const moved = problem?.code === "CONFLICT" && newestNow !== newest;
  return (
    <Dialog
      open
      onOpenChange={(next) => !next && onClose()}
      title={`Roll back to generation ${generation}?`}
      description={`Every node gets a new generation with the old content. Against generation ${newest}, which is in force, it changes:`}
      footer={
        <>
          <Button onClick={onClose}>Leave as it is</Button>
          {moved ? (
            <Button
              kind="primary"
              onClick={() => {
                setNewest(newestNow);
                rollback.reset();
              }}
            >
              Show what changed
            </Button>
          ) : (
            <Button
              kind="danger"
              busy={rollback.isPending}
              blockedBecause={diff.data?.differences.length === 0 ? "Both say the same." : null}
              onClick={() => rollback.mutate({ generation, newest, ...(note ? { note } : {}) })}
            >
              Roll back
            </Button>
          )}
        </>
      }
    >
      <div className="space-y-3">
        <QueryView query={diff} label="Comparing" rows={2}>
          {({ differences }) =>
            differences.length === 0 ? (
              <p className="text-ink-soft">Nothing: both say the same.</p>
            ) : (
              <ul className="list-disc space-y-1 pl-5">
                {differences.map(({ sentence }) => (
                  <li key={sentence}>{sentence}</li>
                ))}
              </ul>
            )
          }
        </QueryView>
        <p className="text-ink-soft">
          The old content is held: settings stay as they are, and are followed again once somebody releases
          it. The access list with keys, tenants and the kill switch never goes back.
        </p>
        <TextField
          label="Why"
          hint="Stands in the history and in the audit."
          value={note}
          maxLength={500}
          onChange={(event) => setNote(event.target.value)}
        />
        {problem ? (
          <div role="alert" className="rounded-lg bg-bad-wash px-3 py-2 text-bad-ink">
            {problem.message}
          </div>
        ) : null}
        <Command text={command.rollback(generation)} />
      </div>
    </Dialog>
  );
}
