import type { Context } from "../context";
import { findTenant } from "./change-tenant";
import type { TenantOut } from "./schema";

/**
 * The tenant as it stands and will stand until the transaction ends. Whatever makes or ends its keys takes this first:
 * a key that is made while the tenant is being archived would outlive the archiving. Errors: NOT_FOUND.
 */
export async function lockTenant(ctx: Context, id: string): Promise<TenantOut> {
  await ctx.db.$executeRaw`SELECT 1 FROM "tenant" WHERE "id" = ${id}::uuid FOR NO KEY UPDATE`;
  return findTenant(ctx, id);
}
