"use client";

import { StreamingMode } from "@helm/contracts";
import { zodResolver } from "@hookform/resolvers/zod";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { problemOf } from "../../api/errors";
import { tellStored } from "../../api/tell";
import { useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { SelectField, TextField } from "../../ui/field";
import { pairTitle } from "../pairs/pair-words";
import type { Route } from "./use-helm-switch";

const logprob = z.coerce.number<number>("A number.").min(-100, "At least -100.").max(0, "At most 0.");
const Form = z.object({
  pairId: z.string(),
  meanLogprob: logprob,
  minLogprob: logprob,
  streaming: StreamingMode,
  window: z.coerce
    .number<number>("A number.")
    .int("A whole number.")
    .min(1, "At least 1.")
    .max(4096, "At most 4,096."),
  defaultMaxTokens: z.coerce
    .number<number>("A number.")
    .int("A whole number.")
    .min(1, "At least 1.")
    .max(1_000_000, "At most 1,000,000."),
});

/** Opened with what stood then; a refetch never wipes it, and the revision it was opened with makes a clash visible. */
export function RouteForm({ route, onDone }: { route: Route; onDone: () => void }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const [opened] = useState(route);
  const [clash, setClash] = useState<string | null>(null);
  const pairs = useQuery(trpc.pair.list.queryOptions()).data ?? [];
  const update = useMutation(trpc.route.update.mutationOptions());
  const form = useForm({
    resolver: zodResolver(Form),
    defaultValues: {
      pairId: opened.pairId,
      meanLogprob: opened.judge.meanLogprob,
      minLogprob: opened.judge.minLogprob,
      streaming: opened.streaming,
      window: opened.window,
      defaultMaxTokens: opened.defaultMaxTokens,
    },
  });
  const submit = form.handleSubmit(async ({ meanLogprob, minLogprob, ...rest }) => {
    setClash(null);
    try {
      const stored = await update.mutateAsync({
        name: opened.name,
        judge: { meanLogprob, minLogprob },
        ...rest,
        revision: opened.revision,
      });
      tellStored(`${stored.name} is changed`, `Stored as revision ${stored.revision}; nodes are told now.`);
      void client.invalidateQueries({ queryKey: trpc.overview.pathKey() });
      void client.invalidateQueries({ queryKey: trpc.route.pathKey() });
      onDone();
    } catch (error) {
      setClash(problemOf(error).message);
    }
  });
  const { errors, isSubmitting } = form.formState;
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <SelectField label="Pair" {...form.register("pairId")}>
        {pairs.length === 0 ? <option value={opened.pairId}>{opened.pairName}</option> : null}
        {pairs.map((pair) => (
          <option key={pair.id} value={pair.id}>
            {pairTitle(pair)} ({pair.status})
          </option>
        ))}
      </SelectField>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Mean log-probability"
          hint="Escalate below it. Nearer to 0 escalates more."
          inputMode="decimal"
          error={errors.meanLogprob?.message}
          {...form.register("meanLogprob")}
        />
        <TextField
          label="Least log-probability"
          hint="Escalate where one token is below it."
          inputMode="decimal"
          error={errors.minLogprob?.message}
          {...form.register("minLogprob")}
        />
        <SelectField label="Streaming" {...form.register("streaming")}>
          <option value="buffer">buffer: judge the whole answer</option>
          <option value="window">window: judge the first tokens</option>
          <option value="stream">stream: never escalate</option>
        </SelectField>
        <TextField
          label="Window"
          hint="Tokens held back."
          inputMode="numeric"
          error={errors.window?.message}
          {...form.register("window")}
        />
        <TextField
          label="Default length"
          hint="Tokens, where a request names none."
          inputMode="numeric"
          error={errors.defaultMaxTokens?.message}
          {...form.register("defaultMaxTokens")}
        />
      </div>
      {clash ? (
        <p role="alert" className="rounded-lg bg-bad-wash px-3 py-2 font-medium text-bad-ink">
          {clash}
        </p>
      ) : null}
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" kind="primary" busy={isSubmitting}>
          Store
        </Button>
      </div>
    </form>
  );
}
