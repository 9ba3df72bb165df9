"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { parseAsString, useQueryState } from "nuqs";
import { tellProblem } from "../../api/tell";
import { type Outputs, useTRPC } from "../../api/trpc";

export type Question = Outputs["playground"]["get"];

const EVERY_MS = 500;

/** The question that the address names, read again while it runs: a reload shows the same. */
export function useQuestion() {
  const trpc = useTRPC();
  const client = useQueryClient();
  const [id, setId] = useQueryState("run", parseAsString);
  const question = useQuery(
    trpc.playground.get.queryOptions(
      { id: id ?? "" },
      {
        enabled: id !== null,
        refetchInterval: ({ state }) => (state.data?.state === "RUNNING" ? EVERY_MS : false),
      },
    ),
  );
  const ask = useMutation(
    trpc.playground.ask.mutationOptions({
      onSuccess: (made) => void setId(made.id, { history: "push" }),
      onError: (error) => tellProblem("The question was not asked", error),
    }),
  );
  const cancel = useMutation(
    trpc.playground.cancel.mutationOptions({
      onSuccess: () => client.invalidateQueries({ queryKey: trpc.playground.pathKey() }),
      onError: (error) => tellProblem("The question was not cancelled", error),
    }),
  );
  return { id, question, ask, cancel };
}
