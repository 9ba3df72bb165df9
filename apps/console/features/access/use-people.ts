"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { tellProblem, tellStored } from "../../api/tell";
import { type Outputs, useTRPC } from "../../api/trpc";
import { roleWith } from "./role-words";

export type Person = Outputs["person"]["list"][number];

export function usePeople() {
  const trpc = useTRPC();
  return useQuery(trpc.person.list.queryOptions());
}

/** The list as it will be, at once; rolled back on error. */
function useOptimistic() {
  const trpc = useTRPC();
  const client = useQueryClient();
  const key = trpc.person.list.queryKey();
  return {
    show: async (id: string, change: Partial<Person>) => {
      await client.cancelQueries({ queryKey: key });
      const before = client.getQueryData(key);
      client.setQueryData(key, (rows) => rows?.map((row) => (row.id === id ? { ...row, ...change } : row)));
      return { before };
    },
    rollBack: (before: Person[] | undefined) => client.setQueryData(key, before),
    store: (stored: Person) =>
      client.setQueryData(key, (rows) => rows?.map((row) => (row.id === stored.id ? stored : row))),
    refresh: () => {
      for (const path of [trpc.person, trpc.invitation, trpc.token])
        void client.invalidateQueries({ queryKey: path.pathKey() });
    },
  };
}

export function useSetRole() {
  const trpc = useTRPC();
  const list = useOptimistic();
  return useMutation(
    trpc.person.setRole.mutationOptions({
      onMutate: ({ id, role }) => list.show(id, { role }),
      onError: (error, _input, kept) => {
        list.rollBack(kept?.before);
        tellProblem("The role was not changed", error);
      },
      onSuccess: (stored) => {
        list.store(stored);
        tellStored(
          `${stored.email} is ${roleWith(stored.role)} now`,
          `Stored as revision ${stored.revision}.`,
        );
      },
      onSettled: list.refresh,
    }),
  );
}

export function useSetDisabled() {
  const trpc = useTRPC();
  const list = useOptimistic();
  return useMutation(
    trpc.person.setDisabled.mutationOptions({
      onMutate: ({ id, disabled }) => list.show(id, disabled ? { state: "DISABLED", sessions: 0 } : {}),
      onError: (error, { disabled }, kept) => {
        list.rollBack(kept?.before);
        tellProblem(`The person was not ${disabled ? "disabled" : "enabled"}`, error);
      },
      onSuccess: (stored, { disabled }) => {
        list.store(stored);
        tellStored(
          `${stored.email} is ${disabled ? "disabled" : "enabled"}`,
          `Stored as revision ${stored.revision}.`,
        );
      },
      onSettled: list.refresh,
    }),
  );
}

export function useRemovePerson() {
  const trpc = useTRPC();
  const list = useOptimistic();
  return useMutation(
    trpc.person.remove.mutationOptions({
      onError: (error) => tellProblem("The person was not removed", error),
      onSuccess: () => tellStored("The person is removed", "The audit keeps what they did."),
      onSettled: list.refresh,
    }),
  );
}

export function useSignOutEverywhere() {
  const trpc = useTRPC();
  const list = useOptimistic();
  return useMutation(
    trpc.person.signOutEverywhere.mutationOptions({
      onError: (error) => tellProblem("Nobody was signed out", error),
      onSuccess: ({ sessionsEnded }) =>
        tellStored(sessionsEnded === 1 ? "1 session has ended" : `${sessionsEnded} sessions have ended`),
      onSettled: list.refresh,
    }),
  );
}

export function useResetSignIn() {
  const trpc = useTRPC();
  const list = useOptimistic();
  return useMutation(
    trpc.person.resetSignIn.mutationOptions({
      onError: (error) => tellProblem("The sign-in was not reset", error),
      onSettled: list.refresh,
    }),
  );
}

export function useCreatePerson() {
  const trpc = useTRPC();
  const list = useOptimistic();
  return useMutation(trpc.person.create.mutationOptions({ onSuccess: list.refresh }));
}
