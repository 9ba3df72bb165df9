import { type AuditVerb, HelmError } from "@helm/contracts";
import type { Prisma } from "@helm/db";
import type { Context } from "../context";
import { changeRow } from "../revision/change-row";
import { type TenantOut, tenantOut, withKeys } from "./schema";

export interface TenantChange {
  verb: AuditVerb;
  id: string;
  revision: number;
  data: Prisma.TenantUncheckedUpdateManyInput;
  reason?: string;
}

export async function readTenant(ctx: Context, id: string): Promise<TenantOut | null> {
  const row = await ctx.db.tenant.findUnique({ where: { id }, include: withKeys });
  return row && tenantOut(row);
}

/** The tenant, or NOT_FOUND. */
export async function findTenant(ctx: Context, id: string): Promise<TenantOut> {
  const tenant = await readTenant(ctx, id);
  if (!tenant) throw new HelmError("NOT_FOUND", "There is no such tenant.");
  return tenant;
}

/** As every edit: over the revision that was seen, with its audit row. */
export async function changeTenant(
  ctx: Context,
  { verb, id, revision, data, reason }: TenantChange,
): Promise<TenantOut> {
  const { name } = await findTenant(ctx, id);
  return changeRow(ctx, {
    verb,
    entity: "tenant",
    entityId: id,
    what: `the tenant ${name}`,
    revision,
    reason,
    read: () => readTenant(ctx, id),
    write: (where, next) => ctx.db.tenant.updateMany({ where: { id, ...where }, data: { ...data, ...next } }),
    audited: ({ id: _, keys: __, createdAt: ___, updatedAt: ____, ...fields }) => fields,
  });
}
