"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useQuery } from "@tanstack/react-query";
import { useRouter, useSearchParams } from "next/navigation";
import { useEffect, useState } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { useTRPC } from "../../api/trpc";
import { TextField } from "../../ui/field";
import { SubmitButton } from "../../ui/submit-button";
import { HELM_PAGE } from "../shell/navigation";
import { safeNext, signIn } from "./sign-in";

const Form = z.object({
  email: z.email("Write the email address of your account."),
  password: z.string().min(1, "Write your password."),
});

export function SignInForm() {
  const trpc = useTRPC();
  const router = useRouter();
  const next = safeNext(useSearchParams().get("next"), HELM_PAGE);
  const [refusal, setRefusal] = useState<string | null>(null);
  const setup = useQuery(trpc.setup.status.queryOptions());
  // Without default values: what was typed or filled in before the script ran is kept.
  const form = useForm({ resolver: zodResolver(Form) });

  useEffect(() => {
    if (setup.data?.open) router.replace("/setup");
  }, [setup.data?.open, router]);

  const submit = form.handleSubmit(async ({ email, password }) => {
    setRefusal(null);
    const problem = await signIn(email, password);
    if (problem) setRefusal(problem);
    else window.location.assign(next);
  });

  return (
    // Without script a form must never send a password in the address: POST, and scripts take it from there.
    <form method="post" onSubmit={submit} noValidate className="space-y-4">
      <TextField
        label="Email"
        type="email"
        autoComplete="username"
        error={form.formState.errors.email?.message}
        {...form.register("email")}
      />
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        error={form.formState.errors.password?.message}
        {...form.register("password")}
      />
      {refusal ? (
        <p role="alert" className="rounded-lg bg-bad-wash px-3 py-2 font-medium text-bad-ink">
          {refusal}
        </p>
      ) : null}
      <SubmitButton className="w-full" busy={form.formState.isSubmitting}>
        Sign in
      </SubmitButton>
    </form>
  );
}
