"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { problemOf } from "../../api/errors";
import { tellStored } from "../../api/tell";
import { useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { SelectField, TextField } from "../../ui/field";
import { wholeNumber } from "../helm/judge-schema";
import { STREAMING_HINT } from "../helm/streaming-words";
import { useBlocked } from "../session/use-session";
import { seenOf } from "./judge-words";

const Form = z.object({ streaming: z.enum(["buffer", "window"]), window: wholeNumber(4096) });

/** A table for another mode or window, on what the pair's models said to the probes of its shown calibration. */
export function FitTable({ calibrationId }: { calibrationId: string | null }) {
  const [open, setOpen] = useState(false);
  const blocked = useBlocked("operator");
  const unmeasured =
    calibrationId === null ? "Calibrate the pair first: a table is fitted on its probes." : null;
  return (
    <>
      <Button size="small" blockedBecause={blocked ?? unmeasured} onClick={() => setOpen(true)}>
        Fit a table
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Fit a table"
        description="On the answers that both models gave to the probes of the calibration shown here. No route judges by it until one chooses it."
      >
        {calibrationId ? <FitForm calibrationId={calibrationId} onDone={() => setOpen(false)} /> : null}
      </Dialog>
    </>
  );
}

function FitForm({ calibrationId, onDone }: { calibrationId: string; onDone: () => void }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const fit = useMutation(trpc.judge.fit.mutationOptions());
  const form = useForm({
    resolver: zodResolver(Form),
    defaultValues: { streaming: "window" as const, window: 64 } as z.input<typeof Form>,
  });
  const streaming = form.watch("streaming");
  const submit = form.handleSubmit(async (values) => {
    const window = values.streaming === "window" ? values.window : null;
    try {
      const made = await fit.mutateAsync({ calibrationId, streaming: values.streaming, window });
      tellStored(
        `A table for ${seenOf(made.streaming, made.window)} is fitted`,
        `Stored as ${made.sha256.slice(0, 12)}; no route judges by it yet.`,
      );
      void client.invalidateQueries({ queryKey: trpc.judge.pathKey() });
      onDone();
    } catch (error) {
      form.setError("root", { message: problemOf(error).message });
    }
  });
  const { errors, isSubmitting } = form.formState;
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <SelectField label="Streaming" hint={STREAMING_HINT[streaming]} {...form.register("streaming")}>
        <option value="window">window</option>
        <option value="buffer">buffer</option>
      </SelectField>
      {streaming === "window" ? (
        <TextField
          label="Window"
          hint="Tokens that the route holds back."
          inputMode="numeric"
          error={errors.window?.message}
          {...form.register("window")}
        />
      ) : null}
      {errors.root ? (
        <p role="alert" className="rounded-lg bg-bad-wash px-3 py-2 text-bad-ink">
          {errors.root.message}
        </p>
      ) : null}
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" kind="primary" busy={isSubmitting}>
          Fit
        </Button>
      </div>
    </form>
  );
}
