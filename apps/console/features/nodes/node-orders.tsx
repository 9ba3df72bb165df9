"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { tellProblem, tellStored } from "../../api/tell";
import { useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { ConfirmDialog } from "../../ui/dialog";
import { useBlocked } from "../session/use-session";
import type { Node } from "./node-words";

/** Drain and undrain, a canary again, and the end of a credential: each asks where production would notice. */
export function NodeOrders({ node }: { node: Node }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const [asked, setAsked] = useState<"drain" | "revoke" | null>(null);
  const operator = useBlocked("operator");
  const admin = useBlocked("admin");
  const settle = { onSettled: () => client.invalidateQueries() };
  const told = (what: string) => ({
    onSuccess: ({ name, revision, connected }: { name: string; revision: number; connected: boolean }) => {
      setAsked(null);
      tellStored(
        `${name} was told to ${what} (order ${revision})`,
        connected ? undefined : "It is not connected, and obeys when it comes back.",
      );
    },
    onError: (error: unknown) => tellProblem(`${node.name} was not told to ${what}`, error),
    ...settle,
  });
  const drain = useMutation(trpc.node.drain.mutationOptions(told("drain")));
  const undrain = useMutation(trpc.node.undrain.mutationOptions(told("serve again")));
  const canary = useMutation(trpc.node.canary.mutationOptions(told("run its canary")));
  const revoke = useMutation(
    trpc.host.revoke.mutationOptions({
      onSuccess: () => {
        setAsked(null);
        tellStored(
          `${node.name} is revoked`,
          "Its connection is cut; it can join again with a new token only.",
        );
      },
      onError: (error) => tellProblem(`${node.name} was not revoked`, error),
      ...settle,
    }),
  );
  const parked =
    node.orders.parkedFor.length > 0
      ? "It is parked for a calibration and comes back when that ends. Cancel the calibration to have it back now."
      : null;
  const running = node.readiness?.serving?.running ?? 0;
  return (
    <div className="flex flex-wrap gap-2">
      {node.orders.drain ? (
        <Button
          size="small"
          kind="primary"
          blockedBecause={operator ?? parked}
          busy={undrain.isPending}
          onClick={() => undrain.mutate({ id: node.id })}
        >
          Undrain<span className="sr-only"> {node.name}</span>
        </Button>
      ) : (
        <Button size="small" blockedBecause={operator} onClick={() => setAsked("drain")}>
          Drain<span className="sr-only"> {node.name}</span>
        </Button>
      )}
      <Button
        size="small"
        blockedBecause={
          operator ??
          parked ??
          (node.orders.drain ? "A drained node runs its canary when it comes back." : null)
        }
        busy={canary.isPending}
        onClick={() => canary.mutate({ id: node.id })}
      >
        Canary again<span className="sr-only"> on {node.name}</span>
      </Button>
      <Button size="small" blockedBecause={admin} onClick={() => setAsked("revoke")}>
        Revoke<span className="sr-only"> {node.name}</span>
      </Button>
      <ConfirmDialog
        open={asked === "drain"}
        onOpenChange={(open) => setAsked(open ? "drain" : null)}
        title={`Drain ${node.name}?`}
        description={`It takes no new requests: clients get 503 no_capacity and are told to come again. ${running === 0 ? "No request is under way there now." : `${running} under way there end first.`} It stays drained over its own restart, until somebody undrains it.`}
        confirm="Drain"
        kind="danger"
        busy={drain.isPending}
        onConfirm={() => drain.mutate({ id: node.id })}
      />
      <ConfirmDialog
        open={asked === "revoke"}
        onOpenChange={(open) => setAsked(open ? "revoke" : null)}
        title={`Revoke ${node.name}?`}
        description="Its connection is cut at once and its credential opens nothing any more. It goes on serving from what it last knew until its access list is too old: Helm off after a day, no key after a week. Stop its process to end it now. This cannot be undone; the host joins again with a new token."
        confirm="Revoke"
        kind="danger"
        busy={revoke.isPending}
        onConfirm={() => revoke.mutate({ id: node.id })}
      />
    </div>
  );
}
