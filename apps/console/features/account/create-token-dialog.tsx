"use client";

import { TOKEN_DAYS } from "@helm/contracts";
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

const EXPIRY = [
  { value: "7", name: "In 7 days" },
  { value: "30", name: "In 30 days" },
  { value: String(TOKEN_DAYS.usual), name: "In 90 days" },
  { value: String(TOKEN_DAYS.max), name: "In a year" },
];
const Form = z.object({
  name: z.string().trim().min(1, "Write where it is used.").max(80, "At most 80 characters."),
  days: z.string(),
});

export function CreateToken() {
  const [open, setOpen] = useState(false);
  const [made, setMade] = useState<string | null>(null);
  const close = () => {
    setOpen(false);
    setMade(null);
  };
  return (
    <>
      <Button onClick={() => setOpen(true)}>Create a token</Button>
      <Dialog
        open={open}
        onOpenChange={(next) => (next ? setOpen(true) : close())}
        sticky={made !== null}
        title={made ? "Copy the token now" : "Create a personal token"}
        description={
          made
            ? "It is shown this once; only its digest is stored."
            : "Whoever holds it calls this server as you."
        }
      >
        {made ? (
          <ShownOnce secret={made} what="token" testId="new-token" onDone={close} />
        ) : (
          <CreateTokenForm onMade={setMade} onCancel={close} />
        )}
      </Dialog>
    </>
  );
}

function CreateTokenForm({ onMade, onCancel }: { onMade: (token: string) => void; onCancel: () => void }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const form = useForm({
    resolver: zodResolver(Form),
    defaultValues: { name: "", days: String(TOKEN_DAYS.usual) },
  });
  const create = useMutation(trpc.token.create.mutationOptions());
  const submit = form.handleSubmit(async ({ name, days }) => {
    try {
      const { token } = await create.mutateAsync({ name, days: Number(days) });
      onMade(token);
      for (const path of [trpc.token, trpc.person])
        void client.invalidateQueries({ queryKey: path.pathKey() });
    } catch (error) {
      form.setError("name", { message: problemOf(error).message });
    }
  });
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <TextField
        label="Name"
        hint="The machine or the job that uses it, so that you know which one to revoke."
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
          Create the token
        </Button>
      </div>
    </form>
  );
}
