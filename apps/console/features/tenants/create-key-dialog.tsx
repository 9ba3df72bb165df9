"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { problemOf } from "../../api/errors";
import { useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { SelectField, TextField } from "../../ui/field";
import { ShownOnce } from "../../ui/shown-once";
import { useBlocked } from "../session/use-session";

const DAY_MS = 86_400_000;
const EXPIRY = [
  { value: "0", name: "Never" },
  { value: "7", name: "In 7 days" },
  { value: "30", name: "In 30 days" },
  { value: "90", name: "In 90 days" },
  { value: "365", name: "In a year" },
];
const Form = z.object({
  name: z.string().trim().min(1, "Write what the key is for.").max(80, "At most 80 characters."),
  days: z.string(),
});

export function CreateKey({ tenantId, tenantName }: { tenantId: string; tenantName: string }) {
  const [open, setOpen] = useState(false);
  const [made, setMade] = useState<string | null>(null);
  const close = () => {
    setOpen(false);
    setMade(null);
  };
  return (
    <>
      <Button blockedBecause={useBlocked("admin")} onClick={() => setOpen(true)}>
        Create a key
      </Button>
      <Dialog
        open={open}
        onOpenChange={(next) => (next ? setOpen(true) : close())}
        sticky={made !== null}
        title={made ? "Copy the key now" : `Create a key for ${tenantName}`}
        description={
          made
            ? "It is shown this once; only its hash is stored."
            : "Whoever holds it calls the gateway as this tenant."
        }
      >
        {made ? (
          <ShownOnce secret={made} what="key" testId="new-key" onDone={close} />
        ) : (
          <CreateKeyForm tenantId={tenantId} onMade={setMade} onCancel={close} />
        )}
      </Dialog>
    </>
  );
}

function CreateKeyForm({
  tenantId,
  onMade,
  onCancel,
}: {
  tenantId: string;
  onMade: (key: string) => void;
  onCancel: () => void;
}) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const form = useForm({ resolver: zodResolver(Form), defaultValues: { name: "", days: "0" } });
  const create = useMutation(trpc.key.create.mutationOptions());
  const submit = form.handleSubmit(async ({ name, days }) => {
    const expiresAt = days === "0" ? null : new Date(Date.now() + Number(days) * DAY_MS);
    try {
      const { key } = await create.mutateAsync({ tenantId, name, expiresAt });
      onMade(key);
      void client.invalidateQueries({ queryKey: trpc.key.pathKey() });
      void client.invalidateQueries({ queryKey: trpc.tenant.pathKey() });
    } catch (error) {
      form.setError("name", { message: problemOf(error).message });
    }
  });
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <TextField
        label="Name"
        hint="What it is for, so that you know which one to revoke."
        autoComplete="off"
        error={form.formState.errors.name?.message}
        {...form.register("name")}
      />
      <SelectField label="Expires" {...form.register("days")}>
        {EXPIRY.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.name}
          </option>
        ))}
      </SelectField>
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" kind="primary" busy={form.formState.isSubmitting}>
          Create the key
        </Button>
      </div>
    </form>
  );
}
