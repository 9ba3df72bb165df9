"use client";

import { MOST_PLAYGROUND_PROMPT, MOST_PLAYGROUND_TOKENS } from "@helm/contracts";
import { zodResolver } from "@hookform/resolvers/zod";
import { useForm } from "react-hook-form";
import { z } from "zod";
import type { Outputs } from "../../api/trpc";
import { SelectField, TextAreaField, TextField } from "../../ui/field";
import { SubmitButton } from "../../ui/submit-button";
import { useBlocked } from "../session/use-session";

const AskForm = z.object({
  prompt: z
    .string()
    .trim()
    .min(1, "Write a prompt.")
    .max(MOST_PLAYGROUND_PROMPT, `At most ${MOST_PLAYGROUND_PROMPT} characters.`),
  system: z.string().max(MOST_PLAYGROUND_PROMPT, `At most ${MOST_PLAYGROUND_PROMPT} characters.`),
  route: z.string().min(1, "Choose a route."),
  nodeId: z.string().min(1, "Choose a node."),
  maxTokens: z.coerce
    .number<number>("A number.")
    .int("A whole number.")
    .min(1, "At least 1.")
    .max(MOST_PLAYGROUND_TOKENS, `At most ${MOST_PLAYGROUND_TOKENS}.`),
});
export type Asked = z.output<typeof AskForm>;

type Node = Outputs["node"]["list"][number];
type Route = Outputs["route"]["list"][number];

export function AskQuestion({
  nodes,
  routes,
  busy,
  onAsk,
  onChange,
}: {
  nodes: Node[];
  routes: Route[];
  busy: boolean;
  onAsk: (asked: Asked) => void;
  onChange: (now: Pick<Asked, "route" | "nodeId" | "prompt" | "maxTokens">) => void;
}) {
  const blocked = useBlocked("operator");
  const there = nodes.filter(({ connected }) => connected);
  const form = useForm({
    resolver: zodResolver(AskForm),
    defaultValues: {
      prompt: "",
      system: "",
      route: routes[0]?.name ?? "",
      nodeId: there[0]?.id ?? "",
      maxTokens: 64,
    },
  });
  const { errors } = form.formState;
  const told = form.handleSubmit(onAsk);
  return (
    <form noValidate className="space-y-4" onSubmit={told} onChange={() => onChange(form.getValues())}>
      <TextAreaField label="Prompt" rows={5} error={errors.prompt?.message} {...form.register("prompt")} />
      <TextAreaField
        label="System message"
        hint="Left empty, none is sent."
        rows={2}
        error={errors.system?.message}
        {...form.register("system")}
      />
      <div className="grid gap-4 sm:grid-cols-3">
        <SelectField label="Route" error={errors.route?.message} {...form.register("route")}>
          {routes.map(({ name, pairName }) => (
            <option key={name} value={name}>
              {`${name}, ${pairName}`}
            </option>
          ))}
        </SelectField>
        <SelectField label="Node" error={errors.nodeId?.message} {...form.register("nodeId")}>
          {nodes.map(({ id, name, connected }) => (
            <option key={id} value={id} disabled={!connected}>
              {connected ? name : `${name}, not connected`}
            </option>
          ))}
        </SelectField>
        <TextField
          label="Tokens at most"
          inputMode="numeric"
          error={errors.maxTokens?.message}
          {...form.register("maxTokens")}
        />
      </div>
      <SubmitButton busy={busy} blockedBecause={blocked}>
        Ask
      </SubmitButton>
    </form>
  );
}
