import { StreamingMode } from "@helm/contracts";
import { z } from "zod";

export const TenantOut = z.object({
  id: z.uuid(),
  name: z.string(),
  enabled: z.boolean(),
  streaming: StreamingMode.nullable(),
  transferOff: z.boolean().nullable(),
  keys: z.object({ live: z.number().int(), total: z.number().int() }),
  revision: z.number().int(),
  createdAt: z.date(),
  updatedAt: z.date(),
});
export type TenantOut = z.infer<typeof TenantOut>;

interface TenantRow extends Omit<TenantOut, "keys"> {
  keys: { revokedAt: Date | null; expiresAt: Date | null }[];
}

export const withKeys = { keys: { select: { revokedAt: true, expiresAt: true } } } as const;

export function tenantOut({ keys, ...tenant }: TenantRow): TenantOut {
  const now = new Date();
  const live = keys.filter((key) => !key.revokedAt && (!key.expiresAt || key.expiresAt > now)).length;
  return { ...tenant, keys: { live, total: keys.length } };
}
