"use client";

import { useMutation } from "@tanstack/react-query";
import { tellProblem } from "../../api/tell";
import { useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { SaidText } from "../../ui/said-text";
import { useBlocked } from "../session/use-session";
import type { Trace } from "./use-traffic";

/** What was written and answered: only of a tenant that opted in, asked for on purpose, and never without a trace. */
export function TraceTextCard({ row }: { row: Trace }) {
  const trpc = useTRPC();
  const blocked = useBlocked("operator");
  const text = useMutation(
    trpc.traffic.text.mutationOptions({
      onError: (error) => tellProblem("The text could not be shown", error),
    }),
  );
  return (
    <Card
      title="Prompt and answer"
      hint={
        row.hasText
          ? "Kept because the tenant opted in. Who shows it is written into the audit; the text is not."
          : "Not kept: the tenant has not opted in, or the text has expired. An administrator opts a tenant in on its page, for a limited time."
      }
      action={
        row.hasText && !text.data ? (
          <Button
            size="small"
            blockedBecause={blocked}
            busy={text.isPending}
            onClick={() => text.mutate({ id: row.id })}
          >
            Show
          </Button>
        ) : null
      }
    >
      {text.data ? (
        <div className="grid gap-4 lg:grid-cols-2">
          <Said name="Prompt" text={text.data.prompt} />
          <Said name="Answer" text={text.data.answer ?? "not kept: the answer passed through unread"} />
          {text.data.cut ? <p className="text-[0.8125rem] text-ink-soft">Long texts are cut.</p> : null}
        </div>
      ) : null}
    </Card>
  );
}

function Said({ name, text }: { name: string; text: string }) {
  return (
    <div className="min-w-0">
      <h3 className="mb-1 font-medium">{name}</h3>
      <SaidText label={name} text={text} />
    </div>
  );
}
