import { z } from "zod";
import type { Call } from "../context";
import { changeTenant, findTenant } from "./change-tenant";
import { requireNotArchived, type TenantOut } from "./schema";

export const SetTenantEnabledInput = z.object({
  id: z.uuid(),
  enabled: z.boolean(),
  revision: z.number().int(),
});

export async function setTenantEnabled({
  ctx,
  input: { id, enabled, revision },
}: Call<z.infer<typeof SetTenantEnabledInput>>): Promise<TenantOut> {
  requireNotArchived(await findTenant(ctx, id));
  return changeTenant(ctx, { verb: "tenant.setEnabled", id, revision, data: { enabled } });
}
