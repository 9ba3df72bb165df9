"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type Outputs, useTRPC } from "../../api/trpc";
import type { FieldWords } from "../edit/conflict";
import { useToggle } from "../edit/use-toggle";

export type Tenant = Outputs["tenant"]["list"][number];

export const TENANT_WORDS: FieldWords = {
  labels: {
    name: "Name",
    enabled: "Helm",
    streaming: "Streaming",
    window: "Window",
    meanLogprob: "Mean log-probability",
    minLogprob: "Least log-probability",
    transferOff: "Transfer",
    maxConcurrent: "Requests at a time",
    archivedAt: "Archived",
  },
  show: (field, value) => {
    if (field === "enabled") return value ? "enabled" : "excluded";
    if (field === "transferOff") return value === true || value === "off" ? "off" : "as the route says";
    if (field === "archivedAt") return value ? "archived" : "in use";
    return value === null || value === undefined || value === "" ? "as the route says" : String(value);
  },
};

export function useTenants(archived = false) {
  const trpc = useTRPC();
  return useQuery(trpc.tenant.list.queryOptions(archived ? { archived } : undefined));
}

/** Everything on screen that a change of a tenant may have changed. */
export function useTenantRefresh() {
  const trpc = useTRPC();
  const client = useQueryClient();
  return () => {
    for (const path of [trpc.tenant, trpc.key, trpc.overview])
      void client.invalidateQueries({ queryKey: path.pathKey() });
  };
}

/** Shown at once; back on an error; the toast follows the stored revision. */
export function useTenantSwitch(tenant: Tenant) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const refresh = useTenantRefresh();
  const mutation = useMutation(trpc.tenant.setEnabled.mutationOptions());
  const lists = { queryKey: trpc.tenant.list.pathKey() };
  const one = trpc.tenant.get.queryKey({ id: tenant.id });
  const put = (change: (row: Tenant) => Tenant) => {
    client.setQueriesData<Tenant[]>(lists, (rows) =>
      rows?.map((row) => (row.id === tenant.id ? change(row) : row)),
    );
    client.setQueryData(one, (row) => row && change(row));
  };
  return useToggle<Tenant>({
    what: `the tenant ${tenant.name}`,
    words: TENANT_WORDS,
    isOn: (row) => row.enabled,
    store: (enabled, revision) => mutation.mutateAsync({ id: tenant.id, enabled, revision }),
    show: (enabled) => {
      void client.cancelQueries({ queryKey: trpc.tenant.pathKey() });
      put((row) => ({ ...row, enabled }));
      return () => put((row) => ({ ...row, enabled: tenant.enabled }));
    },
    settle: (row) => {
      if (row) put(() => row);
      refresh();
    },
    stored: (row) => ({
      title: `${row.name} is ${row.enabled ? "enabled" : "excluded"}`,
      detail: `Stored as revision ${row.revision}.`,
    }),
    failed: "The tenant was not changed",
  });
}
