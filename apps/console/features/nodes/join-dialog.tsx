"use client";

import { useMutation } from "@tanstack/react-query";
import { tellProblem } from "../../api/tell";
import { useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { Command } from "../../ui/command";
import { Dialog } from "../../ui/dialog";
import { TimeAgo } from "../preferences/time";
import { useBlocked } from "../session/use-session";
import { useOpenInAddress } from "../shell/open-in-address";

export function JoinHost({ kind }: { kind: "node" | "worker" }) {
  const trpc = useTRPC();
  const [open, setOpen] = useOpenInAddress(kind);
  const blocked = useBlocked("admin");
  const create = useMutation(
    trpc.host.createJoinToken.mutationOptions({
      onError: (error) => tellProblem("No join token was made", error),
    }),
  );
  return (
    <>
      <Button blockedBecause={blocked} onClick={() => setOpen(true)}>
        Add a {kind}
      </Button>
      <Dialog
        open={open && !blocked}
        onOpenChange={(next) => {
          setOpen(next);
          if (!next) create.reset();
        }}
        sticky={create.isSuccess}
        title={`Add a ${kind}`}
        description={
          create.data
            ? "Run this on the host, in a checkout of this project. It is shown once and works once."
            : "A join token lets one host join, once, and expires soon. The host gets a credential of its own that can be revoked."
        }
        footer={
          create.data ? (
            <Button kind="primary" onClick={() => setOpen(false)}>
              Done
            </Button>
          ) : (
            <>
              <Button onClick={() => setOpen(false)}>Cancel</Button>
              <Button kind="primary" busy={create.isPending} onClick={() => create.mutate({ kind })}>
                Make a join token
              </Button>
            </>
          )
        }
      >
        {create.data ? (
          <div className="space-y-2">
            <Command text={create.data.command} />
            <p className="text-[0.8125rem] text-ink-soft">
              Expires <TimeAgo at={create.data.expiresAt} />. This page shows the {kind} as soon as it has
              joined.
            </p>
          </div>
        ) : null}
      </Dialog>
    </>
  );
}
