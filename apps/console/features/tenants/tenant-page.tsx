"use client";

import { useQuery } from "@tanstack/react-query";
import { QueryView } from "../../api/query-view";
import { useTRPC } from "../../api/trpc";
import { Badge } from "../../ui/badge";
import { Card, PageHeader } from "../../ui/card";
import { Command } from "../../ui/command";
import { command } from "../shell/commands";
import { useNameLeaf } from "../shell/leaf";
import { Terminal } from "../shell/terminal-card";
import { EffectiveCard } from "./effective-card";
import { KeysCard } from "./keys-card";
import { LeavingCard } from "./leaving-card";
import { OverridesForm } from "./overrides-form";
import { TenantSwitch } from "./tenant-switch";
import { TraceTextCard } from "./trace-text-card";
import type { Tenant } from "./use-tenants";

export function TenantPage({ id }: { id: string }) {
  const trpc = useTRPC();
  const tenant = useQuery(trpc.tenant.get.queryOptions({ id }));
  return (
    <QueryView
      query={tenant}
      label="Loading the tenant"
      rows={5}
      back={{ href: "/tenants", name: "All tenants" }}
    >
      {(data) => <TenantDetail tenant={data} />}
    </QueryView>
  );
}

function TenantDetail({ tenant }: { tenant: Tenant }) {
  useNameLeaf(tenant.name);
  const archived = tenant.archivedAt !== null;
  return (
    <>
      <PageHeader
        title={tenant.name}
        badge={archived ? <Badge shape="slash">Archived</Badge> : null}
        lead={
          archived
            ? "Put away: its keys are revoked, and its counts keep its name."
            : tenant.enabled
              ? "Its requests to a route go through the pilot while Helm is on."
              : "Excluded: its requests to a route go straight to the target."
        }
        actions={archived ? null : <TenantSwitch tenant={tenant} />}
      />
      <KeysCard tenantId={tenant.id} tenantName={tenant.name} archived={archived} />
      <div className="grid items-start gap-4 lg:grid-cols-2">
        {archived ? null : (
          <Card
            title="Of its own"
            hint="What is empty is as the route says. Nodes get a change within a second."
          >
            <OverridesForm tenant={tenant} />
          </Card>
        )}
        <EffectiveCard tenantId={tenant.id} />
      </div>
      {archived ? null : <FirstRequest />}
      {archived ? null : <TraceTextCard tenant={tenant} />}
      <LeavingCard tenant={tenant} />
      <Terminal
        commands={[
          command.showTenant(tenant.name),
          command.switchTenant(tenant.name, !tenant.enabled),
          command.setTenant(tenant.name),
          command.createKey(tenant.name),
          command.keys(tenant.name),
          command.traceText(tenant.name),
        ]}
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
