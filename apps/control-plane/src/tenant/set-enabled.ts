import { HelmError } from "@helm/contracts";
import { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import type { Call } from "../context";
import { type TenantOut, tenantOut, withKeys } from "./schema";

export const SetTenantEnabledInput = z.object({
  id: z.uuid(),
  enabled: z.boolean(),
  revision: z.number().int(),
});

export async function setTenantEnabled({
  ctx,
  input,
}: Call<z.infer<typeof SetTenantEnabledInput>>): Promise<TenantOut> {
  const before = await ctx.db.tenant.findUnique({ where: { id: input.id } });
  if (!before) throw new HelmError("NOT_FOUND", "There is no such tenant.");
  const changed = await ctx.db.tenant.updateMany({
    where: { id: input.id, revision: input.revision },
    data: { enabled: input.enabled, revision: { increment: 1 } },
  });
  if (changed.count === 0) {
    throw new HelmError("CONFLICT", `Someone else changed ${before.name} meanwhile. Look at it again.`, {
      revision: before.revision,
    });
  }
  const tenant = await ctx.db.tenant.findUniqueOrThrow({ where: { id: input.id }, include: withKeys });
  await writeAudit(ctx, {
    verb: "tenant.setEnabled",
    entity: "tenant",
    entityId: tenant.id,
    before: { enabled: before.enabled, revision: before.revision },
    after: { enabled: tenant.enabled, revision: tenant.revision },
  });
  return tenantOut(tenant);
}
