"use client";

import Link from "next/link";
import { QueryView } from "../../api/query-view";
import { Card, PageHeader } from "../../ui/card";
import { plural } from "../../ui/numbers";
import { Empty } from "../../ui/states";
import { Table, Td, Th, Tr } from "../../ui/table";
import { TimeAgo } from "../preferences/time";
import { command } from "../shell/commands";
import { Terminal } from "../shell/terminal-card";
import { CreateTenant } from "./create-tenant-dialog";
import { TenantSwitch } from "./tenant-switch";
import { useTenants } from "./use-tenants";

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
        <QueryView query={tenants} label="Loading tenants">
          {(rows) =>
            rows.length === 0 ? (
              <Empty title="No tenants yet" command={command.createTenant("NAME")}>
                Create one, enable it, and give it an API key: without a key nobody can call the gateway.
              </Empty>
            ) : (
              <Table
                caption="Tenants"
                head={
                  <>
                    <Th>Tenant</Th>
                    <Th>Helm</Th>
                    <Th>API keys</Th>
                    <Th>Created</Th>
                  </>
                }
              >
                {rows.map((tenant) => (
                  <Tr key={tenant.id}>
                    <Td label="Tenant">
                      <Link
                        href={`/tenants/${tenant.id}`}
                        className="font-semibold underline-offset-4 hover:underline"
                      >
                        {tenant.name}
                      </Link>
                    </Td>
                    <Td label="Helm">
                      <TenantSwitch tenant={tenant} />
                    </Td>
                    <Td label="API keys">
                      {plural(tenant.keys.live, "key")}{" "}
                      <span className="text-ink-soft">of {tenant.keys.total} ever made</span>
                    </Td>
                    <Td label="Created">
                      <TimeAgo at={tenant.createdAt} />
                    </Td>
                  </Tr>
                ))}
              </Table>
            )
          }
        </QueryView>
      </Card>
      <Terminal commands={[command.tenants, command.switchTenant("NAME", true)]} />
    </>
  );
}
