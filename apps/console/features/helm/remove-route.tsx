"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { tellProblem, tellStored } from "../../api/tell";
import { useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { ConfirmDialog } from "../../ui/dialog";
import { useBlocked } from "../session/use-session";
import type { Route } from "./use-helm-switch";

export function RemoveRoute({ route }: { route: Route }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const { name, revision } = route;
  const preview = useQuery(trpc.route.preview.queryOptions({ name, remove: true }, { enabled: open }));
  const remove = useMutation(
    trpc.route.remove.mutationOptions({
      onSuccess: () => tellStored(`${name} is removed`, "Nodes are told now."),
      onError: (error) => tellProblem(`${name} was not removed`, error),
      onSettled: () => {
        setOpen(false);
        for (const path of [trpc.route, trpc.overview, trpc.tenant])
          void client.invalidateQueries({ queryKey: path.pathKey() });
      },
    }),
  );
  return (
    <>
      <Button size="small" blockedBecause={useBlocked("admin")} onClick={() => setOpen(true)}>
        Remove<span className="sr-only"> the route {name}</span>
      </Button>
      <ConfirmDialog
        open={open}
        onOpenChange={setOpen}
        title={`Remove the route ${name}?`}
        description={preview.data?.sentences.join(" ") ?? "Clients that ask for it get 404 from then on."}
        confirm="Remove it"
        kind="danger"
        busy={remove.isPending}
        onConfirm={() => remove.mutate({ name, revision })}
      />
    </>
  );
}
