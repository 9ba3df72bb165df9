"use client";

import { parseAsBoolean, useQueryState } from "nuqs";
import { QueryTable } from "../../api/query-table";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Card, PageHeader } from "../../ui/card";
import type { Column, Filter } from "../../ui/data-table";
import { plural } from "../../ui/numbers";
import { Empty } from "../../ui/states";
import { TimeAgo } from "../preferences/time";
import { command } from "../shell/commands";
import { Terminal } from "../shell/terminal-card";
import { CreateTenant } from "./create-tenant-dialog";
import { overrideWords } from "./override-words";
import { TenantSwitch } from "./tenant-switch";
import { type Tenant, useTenants } from "./use-tenants";

export function TenantsPage() {
  const [archived, setArchived] = useQueryState("archived", parseAsBoolean.withDefault(false));
  const tenants = useTenants(archived);
  return (
    <>
      <PageHeader
        title={archived ? "Archived tenants" : "Tenants"}
        lead={
          archived
            ? "Put away: their keys are revoked, and their counts keep their names."
            : "Who calls. Every tenant starts excluded; the ones you enable are routed through the pilot."
        }
        actions={
          <>
            <Button onClick={() => void setArchived(archived ? null : true)}>
              {archived ? "Tenants in use" : "Archived tenants"}
            </Button>
            <CreateTenant />
          </>
        }
      />
      <Card>
        <QueryTable
          query={tenants}
          caption={archived ? "Archived tenants" : "Tenants"}
          what="tenants"
          columns={archived ? ARCHIVED : COLUMNS}
          rowId={(tenant) => tenant.id}
          href={(tenant) => `/tenants/${tenant.id}`}
          filters={archived ? [] : FILTERS}
          search="Search tenants"
          csv={archived ? "helm-tenants-archived" : "helm-tenants"}
          empty={
            archived ? (
              <Empty title="No tenant is archived" command={command.tenants}>
                A tenant that is archived on its page stands here, and can be restored from there.
              </Empty>
            ) : (
              <Empty title="No tenants yet" command={command.createTenant("NAME")}>
                Create one, enable it, and give it an API key: without a key nobody can call the gateway.
              </Empty>
            )
          }
        />
      </Card>
      <Terminal commands={[command.tenants, command.switchTenant("NAME", true), command.setTenant("NAME")]} />
    </>
  );
}

const NAME: Column<Tenant> = { id: "name", name: "Tenant", value: ({ name }) => name };
const KEYS: Column<Tenant> = {
  id: "keys",
  name: "API keys",
  value: ({ keys }) => keys.live,
  cell: ({ keys }) => (
    <>
      {plural(keys.live, "key")} <span className="text-ink-soft">of {keys.total} ever made</span>
    </>
  ),
  csv: { live_keys: ({ keys }) => keys.live, keys_ever_made: ({ keys }) => keys.total },
};
const USED: Column<Tenant> = {
  id: "used",
  name: "Last call",
  value: ({ keys }) => keys.lastUsedAt,
  cell: ({ keys }) => <TimeAgo at={keys.lastUsedAt} />,
};

const COLUMNS: Column<Tenant>[] = [
  NAME,
  {
    id: "helm",
    name: "Helm",
    value: ({ enabled }) => (enabled ? "enabled" : "excluded"),
    cell: (tenant) => <TenantSwitch tenant={tenant} />,
  },
  {
    id: "overrides",
    name: "Of its own",
    value: (tenant) => overrideWords(tenant).join("; "),
    cell: (tenant) => {
      const words = overrideWords(tenant);
      return words.length === 0 ? (
        <span className="text-ink-soft">as the routes say</span>
      ) : (
        <span className="inline-flex flex-wrap gap-1">
          {words.map((word) => (
            <Badge key={word}>{word}</Badge>
          ))}
        </span>
      );
    },
  },
  KEYS,
  USED,
  {
    id: "created",
    name: "Created",
    value: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => <TimeAgo at={createdAt} />,
  },
];

const ARCHIVED: Column<Tenant>[] = [
  NAME,
  { ...KEYS, csv: { keys_ever_made: ({ keys }) => keys.total } },
  USED,
  {
    id: "archived",
    name: "Archived",
    value: ({ archivedAt }) => archivedAt,
    cell: ({ archivedAt }) => <TimeAgo at={archivedAt} />,
  },
];

const FILTERS: Filter<Tenant>[] = [
  {
    key: "helm",
    name: "Helm",
    options: ["enabled", "excluded"],
    matches: (tenant, value) => tenant.enabled === (value === "enabled"),
  },
  {
    key: "own",
    name: "Overrides",
    options: [
      { value: "some", name: "has some" },
      { value: "none", name: "has none" },
    ],
    matches: (tenant, value) => overrideWords(tenant).length > 0 === (value === "some"),
  },
  {
    key: "keys",
    name: "API keys",
    options: [
      { value: "live", name: "can call" },
      { value: "none", name: "has no live key" },
    ],
    matches: ({ keys }, value) => keys.live > 0 === (value === "live"),
  },
];
