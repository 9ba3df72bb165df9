"use client";

import { PASSWORD_LENGTH } from "@helm/contracts";
import { zodResolver } from "@hookform/resolvers/zod";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useSearchParams } from "next/navigation";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { problemOf } from "../../api/errors";
import { useTRPC } from "../../api/trpc";
import { ButtonLink } from "../../ui/button";
import { TextField } from "../../ui/field";
import { Failed, Loading } from "../../ui/states";
import { SubmitButton } from "../../ui/submit-button";
import { HELM_PAGE } from "../shell/navigation";
import { signIn } from "./sign-in";

const Form = z.object({
  token: z.string().trim().min(1, "Paste the setup token that the start command printed."),
  name: z.string().trim().min(1, "Write your name; the audit shows it.").max(100, "At most 100 characters."),
  email: z.email("Write an email address."),
  password: z
    .string()
    .min(PASSWORD_LENGTH.min, `Use at least ${PASSWORD_LENGTH.min} characters.`)
    .max(PASSWORD_LENGTH.max, `At most ${PASSWORD_LENGTH.max} characters.`),
});

export function SetupForm() {
  const trpc = useTRPC();
  const setup = useQuery(trpc.setup.status.queryOptions());
  if (setup.isPending) return <Loading rows={4} />;
  if (setup.isError) {
    const { message, requestId } = problemOf(setup.error);
    return <Failed message={message} requestId={requestId} onRetry={() => void setup.refetch()} />;
  }
  if (!setup.data.open) {
    return (
      <div className="space-y-4">
        <p>Setup is closed: this server has its administrator.</p>
        <ButtonLink href="/sign-in" kind="primary">
          Sign in
        </ButtonLink>
      </div>
    );
  }
  return <OpenSetup />;
}

function OpenSetup() {
  const trpc = useTRPC();
  const printed = useSearchParams().get("token") ?? "";
  const [refusal, setRefusal] = useState<string | null>(null);
  const form = useForm({
    resolver: zodResolver(Form),
    defaultValues: { token: printed, name: "", email: "", password: "" },
  });
  const create = useMutation(trpc.setup.createAdministrator.mutationOptions());

  const submit = form.handleSubmit(async (values) => {
    setRefusal(null);
    try {
      await create.mutateAsync(values);
    } catch (error) {
      setRefusal(problemOf(error).message);
      return;
    }
    const problem = await signIn(values.email, values.password);
    window.location.assign(problem ? "/sign-in" : HELM_PAGE);
  });

  const { errors, isSubmitting } = form.formState;
  return (
    <form method="post" onSubmit={submit} noValidate className="space-y-4">
      <p className="-mt-3 text-ink-soft">
        This server has no account yet, and no default password. The setup token proves that you are the one
        who started it.
      </p>
      <TextField
        label="Setup token"
        hint="The start command printed it once, in the terminal it runs in."
        autoComplete="off"
        spellCheck={false}
        className="font-mono"
        error={errors.token?.message}
        {...form.register("token")}
      />
      <TextField label="Name" autoComplete="name" error={errors.name?.message} {...form.register("name")} />
      <TextField
        label="Email"
        type="email"
        autoComplete="username"
        error={errors.email?.message}
        {...form.register("email")}
      />
      <TextField
        label="Password"
        type="password"
        hint={`At least ${PASSWORD_LENGTH.min} characters.`}
        autoComplete="new-password"
        error={errors.password?.message}
        {...form.register("password")}
      />
      {refusal ? (
        <p role="alert" className="rounded-lg bg-bad-wash px-3 py-2 font-medium text-bad-ink">
          {refusal}
        </p>
      ) : null}
      <SubmitButton className="w-full" busy={isSubmitting}>
        Create the administrator
      </SubmitButton>
    </form>
  );
}
