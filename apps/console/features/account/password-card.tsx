"use client";

import { PASSWORD_LENGTH } from "@helm/contracts";
import { zodResolver } from "@hookform/resolvers/zod";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { problemOf } from "../../api/errors";
import { tellStored } from "../../api/tell";
import { useTRPC } from "../../api/trpc";
import { Card } from "../../ui/card";
import { TextField } from "../../ui/field";
import { plural } from "../../ui/numbers";
import { SubmitButton } from "../../ui/submit-button";

const Form = z
  .object({
    current: z.string().min(1, "Write the password you have now."),
    next: z
      .string()
      .min(PASSWORD_LENGTH.min, `Use at least ${PASSWORD_LENGTH.min} characters.`)
      .max(PASSWORD_LENGTH.max, `At most ${PASSWORD_LENGTH.max} characters.`),
    again: z.string(),
  })
  .refine(({ next, again }) => next === again, { path: ["again"], error: "The two are not the same." });

export function PasswordCard() {
  const trpc = useTRPC();
  const client = useQueryClient();
  const form = useForm({ resolver: zodResolver(Form), defaultValues: { current: "", next: "", again: "" } });
  const change = useMutation(trpc.account.changePassword.mutationOptions());
  const submit = form.handleSubmit(async ({ current, next }) => {
    try {
      const { sessionsEnded } = await change.mutateAsync({ current, next });
      form.reset();
      tellStored("The password is changed", `${plural(sessionsEnded, "other session")} ended.`);
      void client.invalidateQueries({ queryKey: trpc.account.pathKey() });
    } catch (error) {
      form.setError("current", { message: problemOf(error).message });
    }
  });
  const { errors, isSubmitting } = form.formState;
  return (
    <Card title="Password" hint="Changing it ends every other session. Personal tokens stay as they are.">
      <form method="post" onSubmit={submit} noValidate className="space-y-4">
        <TextField
          label="Current password"
          type="password"
          autoComplete="current-password"
          error={errors.current?.message}
          {...form.register("current")}
        />
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          hint={`At least ${PASSWORD_LENGTH.min} characters.`}
          error={errors.next?.message}
          {...form.register("next")}
        />
        <TextField
          label="New password, once more"
          type="password"
          autoComplete="new-password"
          error={errors.again?.message}
          {...form.register("again")}
        />
        <SubmitButton busy={isSubmitting}>Change the password</SubmitButton>
      </form>
    </Card>
  );
}
