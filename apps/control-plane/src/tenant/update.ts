import { HelmError, StreamingMode, TenantName } from "@helm/contracts";
import { z } from "zod";
import type { Call } from "../context";
import { changeTenant, findTenant } from "./change-tenant";
import { requireNotArchived, type TenantOut } from "./schema";

const logprob = z.number().min(-100).max(0);

export const UpdateTenantInput = z.object({
  id: z.uuid(),
  name: TenantName.optional(),
  streaming: StreamingMode.nullable().optional(),
  window: z.number().int().min(1).max(4096).nullable().optional(),
  meanLogprob: logprob.nullable().optional(),
  minLogprob: logprob.nullable().optional(),
  transferOff: z.boolean().nullable().optional(),
  maxConcurrent: z.number().int().min(1).max(100_000).nullable().optional(),
  revision: z.number().int(),
});

/** Name and overrides; keys stay, and so do the counts, which hang on the tenant's id. */
export async function updateTenant({
  ctx,
  input: { id, revision, ...data },
}: Call<z.infer<typeof UpdateTenantInput>>): Promise<TenantOut> {
  const tenant = await findTenant(ctx, id);
  requireNotArchived(tenant);
  if (data.name && data.name !== tenant.name) {
    const other = await ctx.db.tenant.findUnique({ where: { name: data.name } });
    if (other)
      throw new HelmError("BAD_REQUEST", `There is a tenant ${data.name} already.`, {
        issues: [{ path: "name", message: "another tenant has this name" }],
      });
  }
  return changeTenant(ctx, { verb: "tenant.update", id, revision, data });
}
