"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { useState } from "react";
import { tellProblem, tellStored } from "../../api/tell";
import { useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { ConfirmDialog } from "../../ui/dialog";
import { TimeAgo } from "../preferences/time";
import { useBlocked } from "../session/use-session";
import { Differences } from "./differences";
import type { RoutingState } from "./snapshot-words";

/** A rollback in force is said on top, with what a release would bring. */
export function HoldNotice({ hold }: { hold: NonNullable<RoutingState["hold"]> }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const [asked, setAsked] = useState(false);
  const blocked = useBlocked("admin");
  const release = useMutation(
    trpc.snapshot.release.mutationOptions({
      onSuccess: ({ generation }) => {
        setAsked(false);
        tellStored(`Released: generation ${generation}`, "Nodes follow the settings again.");
      },
      onError: (error) => tellProblem("Nothing was released", error),
      onSettled: () => client.invalidateQueries(),
    }),
  );
  return (
    <section
      aria-label="A rollback is held"
      className="rounded-xl border border-warn-ink/40 bg-warn-wash p-4 text-warn-ink sm:p-5"
    >
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0 max-w-[72ch]">
          <h2 className="flex items-center gap-2 font-semibold">
            <TriangleAlert aria-hidden="true" className="size-4.5 shrink-0" />
            Rolled back to generation {hold.generation}
          </h2>
          <p className="mt-1">
            By {hold.by} <TimeAgo at={hold.at} />
            {hold.note ? `: ${hold.note}` : ""}. Nodes follow that content and not the settings. A change that
            somebody makes now takes effect by itself; what happens by itself waits for the release.
          </p>
        </div>
        <Button kind="primary" blockedBecause={blocked} onClick={() => setAsked(true)}>
          Release
        </Button>
      </div>
      <div className="mt-3 rounded-lg bg-card p-3 text-ink">
        <h3 className="mb-1 font-medium">The settings say otherwise</h3>
        <Differences
          rows={hold.differences}
          caption="What a release would change"
          none="Nothing: a release would change nothing."
          before="Held"
          after="Settings"
        />
      </div>
      <ConfirmDialog
        open={asked}
        onOpenChange={setAsked}
        title="Let the settings decide again?"
        description={
          <>
            <p>Every node gets a new generation. It differs from what is in force by:</p>
            <ul className="mt-2 list-disc space-y-1 pl-5">
              {hold.differences.map(({ sentence }) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ul>
          </>
        }
        confirm="Release"
        busy={release.isPending}
        onConfirm={() => release.mutate({ held: hold.generation })}
      />
    </section>
  );
}
