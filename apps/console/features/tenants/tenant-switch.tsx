"use client";

import { useState } from "react";
import { Badge } from "../../ui/badge";
import { ConfirmDialog } from "../../ui/dialog";
import { Switch } from "../../ui/switch";
import { useBlocked } from "../session/use-session";
import { type Tenant, useTenantSwitch } from "./use-tenants";

/** The switch with its word beside it; asks before it changes what this tenant's requests get. */
export function TenantSwitch({ tenant }: { tenant: Tenant }) {
  const [asked, setAsked] = useState<boolean | null>(null);
  const change = useTenantSwitch(tenant);
  const blocked = useBlocked("admin");
  const enabling = asked === true;
  return (
    <span className="inline-flex items-center gap-2.5">
      <Switch
        checked={tenant.enabled}
        onChange={setAsked}
        label={`Helm for ${tenant.name}`}
        blockedBecause={blocked ?? (change.pending ? "Being stored." : null)}
      />
      <TenantState enabled={tenant.enabled} />
      <ConfirmDialog
        open={asked !== null}
        onOpenChange={(open) => !open && setAsked(null)}
        title={enabling ? `Enable Helm for ${tenant.name}?` : `Exclude ${tenant.name} from Helm?`}
        description={
          enabling
            ? "Requests of this tenant to the route are answered by the pilot first, and by the target where the pilot's answer is judged hard. Requests that name a model are not touched."
            : "Requests of this tenant to the route go to the target, which reads the prompt itself (reason TENANT_OFF). Its keys keep working."
        }
        confirm={enabling ? "Enable" : "Exclude"}
        onConfirm={() => {
          if (asked !== null) void change.change(asked, tenant.revision);
          setAsked(null);
        }}
      />
      {change.dialog}
    </span>
  );
}

export function TenantState({ enabled }: { enabled: boolean }) {
  return enabled ? (
    <Badge tone="good" shape="check">
      Enabled
    </Badge>
  ) : (
    <Badge shape="slash">Excluded</Badge>
  );
}
