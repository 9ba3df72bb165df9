"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { problemOf } from "../../api/errors";
import { tellStored } from "../../api/tell";
import { useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { Command } from "../../ui/command";
import { Dialog } from "../../ui/dialog";
import { pairName } from "../pairs/pair-words";
import { useBlocked } from "../session/use-session";
import { command } from "../shell/commands";
import type { Placement } from "./placement-words";

export function PlacePair({ placement }: { placement: Placement }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button size="small" blockedBecause={useBlocked("admin")} onClick={() => setOpen(true)}>
        Place<span className="sr-only"> {placement.name}</span>
      </Button>
      {open ? <PlaceForm now={placement} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

/** The form keeps what was chosen while the page asks again; who stored first wins, and the other is told what stands. */
function PlaceForm({ now, onClose }: { now: Placement; onClose: () => void }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const [revision, setRevision] = useState(now.revision);
  const [everywhere, setEverywhere] = useState(!now.placed);
  const [chosen, setChosen] = useState(
    () => new Set(now.nodes.filter(({ here }) => here).map(({ id }) => id)),
  );
  const settle = {
    onSuccess: (stored: Placement) => {
      onClose();
      const where = stored.placed
        ? stored.nodes
            .filter(({ here }) => here)
            .map(({ name }) => name)
            .join(", ")
        : "every node";
      tellStored(`${pairName(stored.name)} is on ${where}`, `Stored as revision ${stored.revision}.`);
    },
    onSettled: () => client.invalidateQueries(),
  };
  const place = useMutation(trpc.pair.place.mutationOptions(settle));
  const unplace = useMutation(trpc.pair.unplace.mutationOptions(settle));
  const error = place.error ?? unplace.error;
  const problem = error ? problemOf(error) : null;
  const [source = "", target = ""] = now.name.split(" -> ");
  const names = now.nodes.filter(({ id }) => chosen.has(id)).map(({ name }) => name);
  const nothing = !everywhere && chosen.size === 0 ? "Choose at least one node." : null;
  const store = () => {
    place.reset();
    unplace.reset();
    if (everywhere) unplace.mutate({ id: now.pairId, revision });
    else place.mutate({ id: now.pairId, nodeIds: [...chosen], revision });
  };
  return (
    <Dialog
      open
      onOpenChange={(next) => !next && onClose()}
      title={`Where may ${pairName(now.name)} be used?`}
      description="A node that is not named answers requests of this pair's route by the target, and does not fetch its mapper."
      footer={
        <>
          <Button onClick={onClose}>Leave as it is</Button>
          {problem?.code === "CONFLICT" ? (
            <Button kind="primary" onClick={() => setRevision(now.revision)}>
              I have seen it; keep my choice
            </Button>
          ) : null}
          <Button
            kind="primary"
            busy={place.isPending || unplace.isPending}
            blockedBecause={nothing}
            onClick={store}
          >
            Store
          </Button>
        </>
      }
    >
      <fieldset className="space-y-1">
        <legend className="sr-only">Nodes</legend>
        <Choice
          type="radio"
          name="where"
          label={now.developmentOnly ? "Every development node" : "Every node"}
          checked={everywhere}
          onChange={() => setEverywhere(true)}
        />
        <Choice
          type="radio"
          name="where"
          label="These nodes and no other"
          checked={!everywhere}
          onChange={() => setEverywhere(false)}
        />
        <div className="space-y-1 pl-7">
          {now.nodes.map((node) => (
            <Choice
              key={node.id}
              type="checkbox"
              label={node.name}
              note={node.refusedBecause ?? (node.connected ? null : "not connected")}
              disabled={everywhere || node.refusedBecause !== null}
              checked={chosen.has(node.id) && node.refusedBecause === null}
              onChange={(checked) =>
                setChosen((before) => {
                  const next = new Set(before);
                  if (checked) next.add(node.id);
                  else next.delete(node.id);
                  return next;
                })
              }
            />
          ))}
        </div>
      </fieldset>
      {problem ? (
        <p role="alert" className="mt-3 rounded-lg bg-bad-wash px-3 py-2 text-bad-ink">
          {problem.message}
        </p>
      ) : null}
      <div className="mt-3">
        <Command
          text={
            everywhere
              ? command.unplace(source, target)
              : command.place(source, target, names.join(",") || "NODE")
          }
        />
      </div>
    </Dialog>
  );
}

function Choice({
  label,
  note,
  onChange,
  ...input
}: {
  type: "radio" | "checkbox";
  name?: string;
  label: string;
  note?: string | null;
  checked: boolean;
  disabled?: boolean;
  onChange: (checked: boolean) => void;
}) {
  return (
    <label className="flex min-h-7 items-start gap-2">
      <input
        {...input}
        className="mt-1 size-4 shrink-0 accent-accent"
        onChange={(event) => onChange(event.target.checked)}
      />
      <span className={input.disabled ? "text-ink-soft" : undefined}>
        {label}
        {note ? <span className="block text-[0.8125rem] text-ink-soft">{note}</span> : null}
      </span>
    </label>
  );
}
