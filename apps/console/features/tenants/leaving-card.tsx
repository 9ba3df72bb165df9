"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { tellProblem, tellStored } from "../../api/tell";
import { useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { ConfirmDialog } from "../../ui/dialog";
import { plural } from "../../ui/numbers";
import { useBlocked } from "../session/use-session";
import { type Tenant, useTenantRefresh } from "./use-tenants";

/** The ways out, and the way back in. */
export function LeavingCard({ tenant }: { tenant: Tenant }) {
  const trpc = useTRPC();
  const router = useRouter();
  const refresh = useTenantRefresh();
  const blocked = useBlocked("admin");
  const [asked, setAsked] = useState<"archive" | "remove" | null>(null);
  const { id, name, revision } = tenant;
  const settled = {
    onError: (error: unknown) => tellProblem(`${name} was not changed`, error),
    onSettled: () => {
      setAsked(null);
      refresh();
    },
  };
  const archive = useMutation(
    trpc.tenant.archive.mutationOptions({
      ...settled,
      onSuccess: (row) =>
        tellStored(`${name} is archived`, `Its keys are revoked; stored as revision ${row.revision}.`),
    }),
  );
  const restore = useMutation(
    trpc.tenant.restore.mutationOptions({
      ...settled,
      onSuccess: (row) =>
        tellStored(
          `${name} is restored`,
          `It is excluded and has no key; stored as revision ${row.revision}.`,
        ),
    }),
  );
  const remove = useMutation(
    trpc.tenant.remove.mutationOptions({
      ...settled,
      onSuccess: () => {
        tellStored(`${name} is removed`);
        router.push("/tenants");
      },
    }),
  );
  return (
    <Card
      title={tenant.archivedAt ? "Bring it back" : "Put it away"}
      hint={
        tenant.archivedAt
          ? "Restored, it is excluded as a new one, and its revoked keys stay revoked."
          : "Archiving revokes its keys and keeps its counts. Removing is for a tenant that never called."
      }
    >
      <div className="flex flex-wrap gap-2">
        {tenant.archivedAt ? (
          <Button
            blockedBecause={blocked}
            busy={restore.isPending}
            onClick={() => restore.mutate({ id, revision })}
          >
            Restore
          </Button>
        ) : (
          <Button blockedBecause={blocked} onClick={() => setAsked("archive")}>
            Archive
          </Button>
        )}
        <Button
          kind="danger"
          blockedBecause={
            blocked ??
            (tenant.keys.lastUsedAt ? "It has called: archive it, its counts keep its name." : null)
          }
          onClick={() => setAsked("remove")}
        >
          Remove for good
        </Button>
      </div>
      <ConfirmDialog
        open={asked === "archive"}
        onOpenChange={(open) => !open && setAsked(null)}
        title={`Archive ${name}?`}
        description={`${plural(tenant.keys.live, "live key")} of ${name} ${tenant.keys.live === 1 ? "is" : "are"} revoked for good: whoever holds one is refused within a second. Its counts stay, under its name.`}
        confirm="Archive it"
        kind="danger"
        busy={archive.isPending}
        onConfirm={() => archive.mutate({ id, revision })}
      />
      <ConfirmDialog
        open={asked === "remove"}
        onOpenChange={(open) => !open && setAsked(null)}
        title={`Remove ${name} for good?`}
        description="The tenant and its keys are gone afterwards. The audit keeps that it was there."
        confirm="Remove it"
        kind="danger"
        busy={remove.isPending}
        onConfirm={() => remove.mutate({ id, revision })}
      />
    </Card>
  );
}
