import { HelmError, StreamingMode } from "@helm/contracts";
import { z } from "zod";

/** What a tenant may have of its own; null leaves what the route says. */
export const TenantOverrides = z.object({
  streaming: StreamingMode.nullable(),
  window: z.number().int().nullable(),
  meanLogprob: z.number().nullable(),
  minLogprob: z.number().nullable(),
  transferOff: z.boolean().nullable(),
  /** Requests at a time on each node. */
  maxConcurrent: z.number().int().nullable(),
});
export type TenantOverrides = z.infer<typeof TenantOverrides>;

export const TenantOut = TenantOverrides.extend({
  id: z.uuid(),
  name: z.string(),
  enabled: z.boolean(),
  /** Until then traces of its requests hold prompt and answer; null: none does. */
  traceTextUntil: z.date().nullable(),
  keys: z.object({ live: z.number().int(), total: z.number().int(), lastUsedAt: z.date().nullable() }),
  revision: z.number().int(),
  createdAt: z.date(),
  updatedAt: z.date(),
  archivedAt: z.date().nullable(),
});
export type TenantOut = z.infer<typeof TenantOut>;

interface TenantRow extends Omit<TenantOut, "keys"> {
  keys: { revokedAt: Date | null; expiresAt: Date | null; lastUsedAt: Date | null }[];
}

export const withKeys = {
  keys: { select: { revokedAt: true, expiresAt: true, lastUsedAt: true } },
} as const;

export function tenantOut({ keys, ...tenant }: TenantRow): TenantOut {
  const now = new Date();
  const live = keys.filter((key) => !key.revokedAt && (!key.expiresAt || key.expiresAt > now)).length;
  const uses = keys.flatMap(({ lastUsedAt }) => lastUsedAt?.getTime() ?? []);
  const lastUsedAt = uses.length > 0 ? new Date(Math.max(...uses)) : null;
  return { ...tenant, keys: { live, total: keys.length, lastUsedAt } };
}

export function requireNotArchived(tenant: { name: string; archivedAt: Date | null }): void {
  if (tenant.archivedAt)
    throw new HelmError("ILLEGAL_TRANSITION", `${tenant.name} is archived. Restore it first.`);
}
