"use client";

import Link from "next/link";
import { QueryView } from "../../api/query-view";
import { Card } from "../../ui/card";
import { Empty } from "../../ui/states";
import { CreateTenant } from "../tenants/create-tenant-dialog";
import { TenantSwitch } from "../tenants/tenant-switch";
import { useTenants } from "../tenants/use-tenants";

const SHOWN = 6;

export function TenantsCard() {
  const tenants = useTenants();
  return (
    <Card title="Tenants" hint="Who is routed. Everyone starts excluded.">
      <QueryView query={tenants} label="Loading tenants">
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No tenants yet" action={<CreateTenant />}>
              Create one, enable it and give it a key.
            </Empty>
          ) : (
            <>
              <ul className="divide-y divide-line">
                {rows.slice(0, SHOWN).map((tenant) => (
                  <li
                    key={tenant.id}
                    className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 py-2"
                  >
                    <Link
                      href={`/tenants/${tenant.id}`}
                      className="font-medium underline-offset-4 hover:underline"
                    >
                      {tenant.name}
                    </Link>
                    <TenantSwitch tenant={tenant} />
                  </li>
                ))}
              </ul>
              <p className="mt-2">
                <Link href="/tenants" className="text-accent underline underline-offset-4">
                  {rows.length > SHOWN ? `All ${rows.length} tenants` : "Tenants and their keys"}
                </Link>
              </p>
            </>
          )
        }
      </QueryView>
    </Card>
  );
}
