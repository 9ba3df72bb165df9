"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { problemOf } from "../../api/errors";
import { tellStored } from "../../api/tell";
import { useTRPC } from "../../api/trpc";
import { Button, ButtonLink, Spinner } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { SelectField, TextField } from "../../ui/field";
import { Loading } from "../../ui/states";
import { useBlocked } from "../session/use-session";
import { useOpenInAddress } from "../shell/open-in-address";
import { CauseList } from "./cause-list";

const Form = z.object({
  sourceModel: z.string().trim().min(1, "Name the pilot."),
  targetModel: z.string().trim().min(1, "Name the target."),
});

export function RegisterPair({
  source,
  target,
  label = "Register a pair",
  inAddress,
}: {
  source?: string;
  target?: string;
  label?: string;
  /** Its name in the address, where a link may open it. */
  inAddress?: string;
}) {
  const [open, setOpen] = useOpenInAddress(inAddress);
  const blocked = useBlocked("admin");
  const [registration, setRegistration] = useState<string | null>(null);
  return (
    <>
      <Button blockedBecause={blocked} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <Dialog
        open={open && !blocked}
        onOpenChange={(next) => {
          setOpen(next);
          if (!next) setRegistration(null);
        }}
        title={label}
        description="A pair is directed: what carries A to B does not carry B to A. A worker reads both models, and facts alone decide whether the pair is possible."
      >
        {registration ? (
          <Outcome id={registration} onAgain={() => setRegistration(null)} onDone={() => setOpen(false)} />
        ) : (
          <RegisterForm
            source={source}
            target={target}
            onAsked={setRegistration}
            onCancel={() => setOpen(false)}
          />
        )}
      </Dialog>
    </>
  );
}

function RegisterForm({
  source,
  target,
  onAsked,
  onCancel,
}: {
  source?: string;
  target?: string;
  onAsked: (id: string) => void;
  onCancel: () => void;
}) {
  const trpc = useTRPC();
  const models = useQuery(trpc.model.list.queryOptions());
  const register = useMutation(trpc.pair.register.mutationOptions());
  const form = useForm({
    resolver: zodResolver(Form),
    defaultValues: { sourceModel: source ?? "", targetModel: target ?? "" },
  });
  const submit = form.handleSubmit(async (values) => {
    try {
      onAsked((await register.mutateAsync(values)).registrationId);
    } catch (error) {
      form.setError("targetModel", { message: problemOf(error).message });
    }
  });
  const { errors, isSubmitting } = form.formState;
  // A field must not turn from one kind into the other under the hands of whoever fills it in.
  if (models.isPending) return <Loading rows={2} label="Loading the models" />;
  const ids = models.data?.map(({ id }) => id) ?? [];
  const fields = [
    {
      name: "sourceModel" as const,
      label: "Pilot (source)",
      hint: "Its cache is read.",
      error: errors.sourceModel?.message,
    },
    {
      name: "targetModel" as const,
      label: "Target",
      hint: "Its cache is written.",
      error: errors.targetModel?.message,
    },
  ];
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      {fields.map(({ name, ...field }) =>
        ids.length > 0 ? (
          <SelectField key={name} {...field} {...form.register(name)}>
            <option value="">Choose a model</option>
            {ids.map((id) => (
              <option key={id}>{id}</option>
            ))}
          </SelectField>
        ) : (
          <TextField key={name} autoComplete="off" {...field} {...form.register(name)} />
        ),
      )}
      {models.data && ids.length === 0 ? (
        <p className="rounded-lg bg-warn-wash px-3 py-2 text-warn-ink">
          No connected worker offers a model yet; write the ids, and the registration waits for one.
        </p>
      ) : null}
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" kind="primary" busy={isSubmitting}>
          Register
        </Button>
      </div>
    </form>
  );
}

function Outcome({ id, onAgain, onDone }: { id: string; onAgain: () => void; onDone: () => void }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const registration = useQuery(
    trpc.pair.registration.queryOptions(
      { id },
      { refetchInterval: ({ state }) => (!state.data || state.data.state === "PENDING" ? 800 : false) },
    ),
  );
  const state = registration.data?.state;
  useEffect(() => {
    if (state !== "REGISTERED") return;
    tellStored("The pair is registered", "It is NOT_CALIBRATED until a run has measured it.");
    void client.invalidateQueries({ queryKey: trpc.pair.pathKey() });
    void client.invalidateQueries({ queryKey: trpc.overview.pathKey() });
  }, [state, client, trpc]);

  if (registration.isError) return <p role="alert">{problemOf(registration.error).message}</p>;
  if (!registration.data || registration.data.state === "PENDING") {
    return (
      <p role="status" className="flex items-center gap-2 text-ink-soft">
        <Spinner /> A worker is reading both models.
      </p>
    );
  }
  const { sourceModel, targetModel, causes, message, pairId } = registration.data;
  if (registration.data.state === "REGISTERED" && pairId) {
    return (
      <div className="space-y-4">
        <p role="status">
          {sourceModel} to {targetModel} is registered. It is used only after a calibration cleared the gate.
        </p>
        <div className="flex justify-end gap-2">
          <Button onClick={onDone}>Close</Button>
          <ButtonLink href={`/pairs/${pairId}`} kind="primary">
            Open the pair
          </ButtonLink>
        </div>
      </div>
    );
  }
  return (
    <div className="space-y-4">
      <div role="alert" className="rounded-lg bg-bad-wash px-3 py-2.5 text-bad-ink">
        <p className="font-semibold">
          {state === "REFUSED"
            ? `${sourceModel} to ${targetModel} cannot be a pair`
            : "The models could not be read"}
        </p>
        {causes.length > 0 ? <CauseList causes={causes} /> : <p className="mt-1">{message}</p>}
      </div>
      <p className="text-[0.8125rem] text-ink-soft">
        This is kept: it stands under the pairs as a registration that became no pair, and in the audit.
      </p>
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Close</Button>
        <Button onClick={onAgain}>Try other models</Button>
      </div>
    </div>
  );
}
