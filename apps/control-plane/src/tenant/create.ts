import { HelmError, TenantName } from "@helm/contracts";
import { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import type { Call } from "../context";
import { type TenantOut, tenantOut, withKeys } from "./schema";

export const CreateTenantInput = z.object({ name: TenantName });

/** Every tenant starts excluded. */
export async function createTenant({
  ctx,
  input,
}: Call<z.infer<typeof CreateTenantInput>>): Promise<TenantOut> {
  const other = await ctx.db.tenant.findUnique({ where: { name: input.name } });
  if (other) {
    const archived = other.archivedAt ? ", archived: restore it, or choose another name" : " already";
    throw new HelmError("CONFLICT", `There is a tenant ${input.name}${archived}.`);
  }
  const tenant = await ctx.db.tenant.create({ data: { name: input.name }, include: withKeys });
  await writeAudit(ctx, {
    verb: "tenant.create",
    entity: "tenant",
    entityId: tenant.id,
    after: { name: tenant.name, enabled: false },
  });
  return tenantOut(tenant);
}
