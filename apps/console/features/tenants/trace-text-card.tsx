"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { tellProblem, tellStored } from "../../api/tell";
import { useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { ConfirmDialog } from "../../ui/dialog";
import { SelectField } from "../../ui/field";
import { Moment } from "../preferences/time";
import { useBlocked } from "../session/use-session";
import { type Tenant, useTenantRefresh } from "./use-tenants";

const SPANS = [
  { hours: 1, name: "1 hour" },
  { hours: 24, name: "1 day" },
  { hours: 168, name: "7 days" },
  { hours: 720, name: "30 days" },
] as const;

/** Whether traces hold what its callers write and are told; never without an end. */
export function TraceTextCard({ tenant }: { tenant: Tenant }) {
  const trpc = useTRPC();
  const refresh = useTenantRefresh();
  const blocked = useBlocked("admin");
  const [asked, setAsked] = useState<"keep" | "withdraw" | null>(null);
  const [hours, setHours] = useState<number>(24);
  const { id, name, revision, traceTextUntil: until } = tenant;
  const store = useMutation(
    trpc.tenant.setTraceText.mutationOptions({
      onSuccess: (row) =>
        tellStored(
          row.traceTextUntil ? `Traces of ${name} hold texts for a time` : `Traces of ${name} hold no texts`,
          `Stored as revision ${row.revision}; nodes are told now.`,
        ),
      onError: (error) => tellProblem(`${name} was not changed`, error),
      onSettled: () => {
        setAsked(null);
        refresh();
      },
    }),
  );
  const open = until !== null && until > new Date();
  return (
    <Card
      title="Prompts and answers in traces"
      hint="Traces hold no text unless a tenant agrees, and then for a limited time. Operators and administrators may read it, and each reading is written into the audit."
    >
      <p className="mb-3">
        {open ? (
          <>
            Kept until <Moment at={until} />.
          </>
        ) : until ? (
          <>
            Not kept since <Moment at={until} />.
          </>
        ) : (
          "Not kept."
        )}
      </p>
      <div className="flex flex-wrap items-end gap-2">
        <SelectField label="For" value={hours} onChange={(event) => setHours(Number(event.target.value))}>
          {SPANS.map((span) => (
            <option key={span.hours} value={span.hours}>
              {span.name}
            </option>
          ))}
        </SelectField>
        <Button blockedBecause={blocked} onClick={() => setAsked("keep")}>
          {open ? "Keep from now on" : "Keep texts"}
        </Button>
        {open ? (
          <Button blockedBecause={blocked} onClick={() => setAsked("withdraw")}>
            Withdraw
          </Button>
        ) : null}
      </div>
      <ConfirmDialog
        open={asked !== null}
        onOpenChange={(next) => setAsked(next ? asked : null)}
        title={asked === "withdraw" ? "Keep no more texts?" : "Keep prompts and answers?"}
        confirm={asked === "withdraw" ? "Withdraw and delete" : "Keep texts"}
        busy={store.isPending}
        onConfirm={() => store.mutate({ id, hours: asked === "withdraw" ? null : hours, revision })}
        description={
          asked === "withdraw"
            ? `What was kept of ${name} is deleted at once, and nodes keep no more.`
            : `From now on the traces of ${name} hold what its callers write and are told. Have its word first.`
        }
      />
    </Card>
  );
}
