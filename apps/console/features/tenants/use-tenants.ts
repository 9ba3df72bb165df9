"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { tellProblem, tellStored } from "../../api/tell";
import { type Outputs, useTRPC } from "../../api/trpc";

export type Tenant = Outputs["tenant"]["list"][number];

export function useTenants() {
  const trpc = useTRPC();
  return useQuery(trpc.tenant.list.queryOptions());
}

/** Optimistic; rolled back on error; the toast follows the stored revision. */
export function useTenantSwitch() {
  const trpc = useTRPC();
  const client = useQueryClient();
  const key = trpc.tenant.list.queryKey();
  return useMutation(
    trpc.tenant.setEnabled.mutationOptions({
      onMutate: async ({ id, enabled }) => {
        await client.cancelQueries({ queryKey: key });
        const before = client.getQueryData(key);
        client.setQueryData(key, (rows) => rows?.map((row) => (row.id === id ? { ...row, enabled } : row)));
        return { before };
      },
      onError: (error, _input, kept) => {
        client.setQueryData(key, kept?.before);
        tellProblem("The tenant was not changed", error);
      },
      onSuccess: (stored) => {
        client.setQueryData(key, (rows) => rows?.map((row) => (row.id === stored.id ? stored : row)));
        tellStored(
          `${stored.name} is ${stored.enabled ? "enabled" : "excluded"}`,
          `Stored as revision ${stored.revision}.`,
        );
      },
      onSettled: () => {
        void client.invalidateQueries({ queryKey: key });
        void client.invalidateQueries({ queryKey: trpc.overview.pathKey() });
      },
    }),
  );
}
