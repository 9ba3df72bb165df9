"use client";

import { PASSWORD_LENGTH } from "@helm/contracts";
import { zodResolver } from "@hookform/resolvers/zod";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { problemOf } from "../../api/errors";
import { useTRPC } from "../../api/trpc";
import { ButtonLink } from "../../ui/button";
import { TextField } from "../../ui/field";
import { SubmitButton } from "../../ui/submit-button";
import { HELM_PAGE } from "../shell/navigation";
import { signIn } from "./sign-in";

const Form = z
  .object({
    password: z
      .string()
      .min(PASSWORD_LENGTH.min, `Use at least ${PASSWORD_LENGTH.min} characters.`)
      .max(PASSWORD_LENGTH.max, `At most ${PASSWORD_LENGTH.max} characters.`),
    again: z.string(),
  })
  .refine(({ password, again }) => password === again, {
    path: ["again"],
    error: "The two are not the same.",
  });

/** The secret stands behind the #, which is sent to no server, and leaves the address bar at once. */
export function WelcomeForm() {
  const [token, setToken] = useState<string | null>(null);
  useEffect(() => {
    const given = window.location.hash.slice(1);
    if (given === "") return setToken((kept) => kept ?? "");
    setToken(given);
    window.history.replaceState(null, "", window.location.pathname);
  }, []);
  if (token === null) return null;
  if (token === "")
    return (
      <div className="space-y-4">
        <p>This page needs the whole link that an administrator gave you; its end is missing.</p>
        <ButtonLink href="/sign-in">Sign in</ButtonLink>
      </div>
    );
  return <ChoosePassword token={token} />;
}

function ChoosePassword({ token }: { token: string }) {
  const trpc = useTRPC();
  const [refusal, setRefusal] = useState<string | null>(null);
  const form = useForm({ resolver: zodResolver(Form), defaultValues: { password: "", again: "" } });
  const accept = useMutation(trpc.invitation.accept.mutationOptions());
  const submit = form.handleSubmit(async ({ password }) => {
    setRefusal(null);
    try {
      const { email } = await accept.mutateAsync({ token, password });
      const problem = await signIn(email, password);
      window.location.assign(problem ? "/sign-in" : HELM_PAGE);
    } catch (error) {
      setRefusal(problemOf(error).message);
    }
  });
  const { errors, isSubmitting } = form.formState;
  return (
    <form method="post" onSubmit={submit} noValidate className="space-y-4">
      <TextField
        label="New password"
        type="password"
        autoComplete="new-password"
        hint={`At least ${PASSWORD_LENGTH.min} characters.`}
        error={errors.password?.message}
        {...form.register("password")}
      />
      <TextField
        label="New password, once more"
        type="password"
        autoComplete="new-password"
        error={errors.again?.message}
        {...form.register("again")}
      />
      {refusal ? (
        <p role="alert" className="rounded-lg bg-bad-wash px-3 py-2 font-medium text-bad-ink">
          {refusal}
        </p>
      ) : null}
      <SubmitButton className="w-full" busy={isSubmitting}>
        Set the password and sign in
      </SubmitButton>
    </form>
  );
}
