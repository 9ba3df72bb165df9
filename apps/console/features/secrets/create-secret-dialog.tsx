"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { problemOf } from "../../api/errors";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { SelectField, TextField } from "../../ui/field";
import { ShownOnce } from "../../ui/shown-once";

const SPANS: Record<number, string> = {
  7: "In 7 days",
  30: "In 30 days",
  90: "In 90 days",
  365: "In a year",
};

export type SecretWords = {
  /** "token", "key": what is made. */
  what: string;
  title: string;
  /** What whoever holds it can do. */
  power: string;
  nameHint: string;
  nameMissing: string;
};

type Props = {
  words: SecretWords;
  /** What may be chosen, in days; null never ends. The first is chosen at first. */
  expiry: readonly (number | null)[];
  blockedBecause?: string | null;
  /** Resolves with the secret, which nobody can show again. */
  make: (asked: { name: string; days: number | null }) => Promise<string>;
};

/** Names a secret and when it ends, makes it, and shows it this once. */
export function CreateSecret({ words, expiry, blockedBecause, make }: Props) {
  const [open, setOpen] = useState(false);
  const [made, setMade] = useState<string | null>(null);
  const close = () => {
    setOpen(false);
    setMade(null);
  };
  return (
    <>
      <Button blockedBecause={blockedBecause} onClick={() => setOpen(true)}>
        Create a {words.what}
      </Button>
      <Dialog
        open={open}
        onOpenChange={(next) => (next ? setOpen(true) : close())}
        sticky={made !== null}
        title={made ? `Copy the ${words.what} now` : words.title}
        description={made ? "It is shown this once; only its digest is stored." : words.power}
      >
        {made ? (
          <ShownOnce secret={made} what={words.what} testId={`new-${words.what}`} onDone={close} />
        ) : (
          <SecretForm
            words={words}
            expiry={expiry}
            make={async (asked) => setMade(await make(asked))}
            onCancel={close}
          />
        )}
      </Dialog>
    </>
  );
}

function SecretForm({
  words,
  expiry,
  make,
  onCancel,
}: Pick<Props, "words" | "expiry"> & {
  make: (asked: { name: string; days: number | null }) => Promise<void>;
  onCancel: () => void;
}) {
  const schema = z.object({
    name: z.string().trim().min(1, words.nameMissing).max(80, "At most 80 characters."),
    days: z.string(),
  });
  const form = useForm({
    resolver: zodResolver(schema),
    defaultValues: { name: "", days: String(expiry[0] ?? "") },
  });
  const submit = form.handleSubmit(async ({ name, days }) => {
    try {
      await make({ name, days: days === "" ? null : Number(days) });
    } catch (error) {
      form.setError("name", { message: problemOf(error).message });
    }
  });
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <TextField
        label="Name"
        hint={words.nameHint}
        autoComplete="off"
        error={form.formState.errors.name?.message}
        {...form.register("name")}
      />
      <SelectField label="Expires" {...form.register("days")}>
        {[...expiry]
          .sort((a, b) => (a ?? 0) - (b ?? 0))
          .map((days) => (
            <option key={days} value={days ?? ""}>
              {days === null ? "Never" : (SPANS[days] ?? `In ${days} days`)}
            </option>
          ))}
      </SelectField>
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" kind="primary" busy={form.formState.isSubmitting}>
          Create the {words.what}
        </Button>
      </div>
    </form>
  );
}
