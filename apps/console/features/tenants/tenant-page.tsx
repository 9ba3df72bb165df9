"use client";

import { useQuery } from "@tanstack/react-query";
import { QueryView } from "../../api/query-view";
import { useTRPC } from "../../api/trpc";
import { Card, PageHeader } from "../../ui/card";
import { Command } from "../../ui/command";
import { command } from "../shell/commands";
import { useNameLeaf } from "../shell/leaf";
import { Terminal } from "../shell/terminal-card";
import { KeysCard } from "./keys-card";
import { TenantSwitch } from "./tenant-switch";
import { type Tenant, useTenants } from "./use-tenants";

export function TenantPage({ id }: { id: string }) {
  const tenants = useTenants();
  return (
    <QueryView query={tenants} label="Loading the tenant">
      {(rows) => {
        const tenant = rows.find((row) => row.id === id);
        return tenant ? (
          <TenantDetail tenant={tenant} />
        ) : (
          <PageHeader title="No such tenant" lead="It is not in this fleet's list." />
        );
      }}
    </QueryView>
  );
}

function TenantDetail({ tenant }: { tenant: Tenant }) {
  useNameLeaf(tenant.name);
  return (
    <>
      <PageHeader
        title={tenant.name}
        lead={
          tenant.enabled
            ? "Its requests to the route go through the pilot while Helm is on."
            : "Excluded: its requests to the route go straight to the target."
        }
        actions={<TenantSwitch tenant={tenant} />}
      />
      <KeysCard tenantId={tenant.id} tenantName={tenant.name} />
      <FirstRequest />
      <Terminal
        commands={[command.switchTenant(tenant.name, !tenant.enabled), command.createKey(tenant.name)]}
      />
    </>
  );
}

/** The one thing to do with a key, ready to paste. */
function FirstRequest() {
  const trpc = useTRPC();
  const gateway = useQuery(trpc.node.list.queryOptions()).data?.find((node) => node.url)?.url;
  const route = useQuery(trpc.route.get.queryOptions()).data?.name;
  if (!gateway || !route) return null;
  const body = JSON.stringify({ model: route, messages: [{ role: "user", content: "Sort: 7 3 9 1" }] });
  return (
    <Card
      title="A first request"
      hint="Any OpenAI client works: this address, this model name, one of the keys above."
    >
      <Command
        text={`curl -si ${gateway.replace(/\/$/, "")}/v1/chat/completions -H "authorization: Bearer $HELM_API_KEY" -H "content-type: application/json" -d '${body}'`}
      />
      <p className="mt-2 text-[0.8125rem] text-ink-soft">
        The answer's headers say what happened: <code className="font-mono">x-helm-served-by</code>,{" "}
        <code className="font-mono">x-helm-decision</code>, <code className="font-mono">x-helm-transfer</code>
        .
      </p>
    </Card>
  );
}
