import type { AccessList } from "@helm/contracts";
import type { Tx } from "../context";
import type { TenantOverrides } from "../tenant/schema";

export type AccessContent = Omit<AccessList, "kind" | "schema" | "version" | "issued_at">;

/** Who may call: hashes of live keys, tenants with their switch, the kill switch, the limits of this list's own age. */
export async function compileAccess(db: Tx): Promise<AccessContent> {
  const setting = await db.setting.findUniqueOrThrow({ where: { id: 1 } });
  const tenants = await db.tenant.findMany({ where: { archivedAt: null }, orderBy: { id: "asc" } });
  const keys = await db.apiKey.findMany({
    where: { revokedAt: null, tenant: { archivedAt: null } },
    orderBy: { id: "asc" },
  });
  return {
    kill_switch: setting.killSwitch,
    helm_off_after_s: setting.helmOffAfterS,
    refuse_keys_after_s: setting.refuseKeysAfterS,
    trace_rate: setting.traceRate,
    keys: keys.map((key) => ({
      hash: key.hash,
      prefix: key.prefix,
      tenant_id: key.tenantId,
      expires_at: key.expiresAt?.toISOString() ?? null,
    })),
    tenants: tenants.map(accessTenant),
  };
}

type AccessTenant = AccessList["tenants"][number];

/** A tenant as nodes are told of it. */
export function accessTenant(
  tenant: { id: string; name: string; enabled: boolean; traceTextUntil: Date | null } & TenantOverrides,
): AccessTenant {
  return {
    id: tenant.id,
    name: tenant.name,
    enabled: tenant.enabled,
    streaming: tenant.streaming,
    window: tenant.window,
    mean_logprob: tenant.meanLogprob,
    min_logprob: tenant.minLogprob,
    transfer_off: tenant.transferOff,
    max_concurrent: tenant.maxConcurrent,
    trace_text_until: tenant.traceTextUntil?.toISOString() ?? null,
  };
}
