"use client";

import { QueryTable } from "../../api/query-table";
import type { Outputs } from "../../api/trpc";
import { Card, PageHeader } from "../../ui/card";
import type { Column, Filter } from "../../ui/data-table";
import { plural } from "../../ui/numbers";
import { Empty } from "../../ui/states";
import { TimeAgo } from "../preferences/time";
import { command } from "../shell/commands";
import { Terminal } from "../shell/terminal-card";
import { CreateTenant } from "./create-tenant-dialog";
import { TenantSwitch } from "./tenant-switch";
import { useTenants } from "./use-tenants";

type Tenant = Outputs["tenant"]["list"][number];

const COLUMNS: Column<Tenant>[] = [
  { id: "name", name: "Tenant", value: (tenant) => tenant.name },
  {
    id: "helm",
    name: "Helm",
    value: (tenant) => (tenant.enabled ? "enabled" : "excluded"),
    cell: (tenant) => <TenantSwitch tenant={tenant} />,
  },
  {
    id: "keys",
    name: "API keys",
    value: (tenant) => tenant.keys.live,
    cell: (tenant) => (
      <>
        {plural(tenant.keys.live, "key")}{" "}
        <span className="text-ink-soft">of {tenant.keys.total} ever made</span>
      </>
    ),
  },
  {
    id: "created",
    name: "Created",
    value: (tenant) => tenant.createdAt,
    cell: (tenant) => <TimeAgo at={tenant.createdAt} />,
  },
];

const FILTERS: Filter<Tenant>[] = [
  {
    key: "helm",
    name: "Helm",
    options: ["enabled", "excluded"],
    matches: (tenant, value) => tenant.enabled === (value === "enabled"),
  },
];

export function TenantsPage() {
  const tenants = useTenants();
  return (
    <>
      <PageHeader
        title="Tenants"
        lead="Who calls. Every tenant starts excluded; the ones you enable are routed through the pilot."
        actions={<CreateTenant />}
      />
      <Card>
        <QueryTable
          query={tenants}
          what="tenants"
          caption="Tenants"
          columns={COLUMNS}
          rowId={(tenant) => tenant.id}
          href={(tenant) => `/tenants/${tenant.id}`}
          filters={FILTERS}
          search="Search tenants"
          csv="helm-tenants"
          empty={
            <Empty title="No tenants yet" command={command.createTenant("NAME")}>
              Create one, enable it, and give it an API key: without a key nobody can call the gateway.
            </Empty>
          }
        />
      </Card>
      <Terminal commands={[command.tenants, command.switchTenant("NAME", true)]} />
    </>
  );
}
