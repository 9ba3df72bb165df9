import { z } from "zod";
import type { Call } from "../context";
import { changeTenant } from "./change-tenant";
import type { TenantOut } from "./schema";

export const SetTenantEnabledInput = z.object({
  id: z.uuid(),
  enabled: z.boolean(),
  revision: z.number().int(),
});

export function setTenantEnabled({
  ctx,
  input: { id, enabled, revision },
}: Call<z.infer<typeof SetTenantEnabledInput>>): Promise<TenantOut> {
  return changeTenant(ctx, { verb: "tenant.setEnabled", id, revision, data: { enabled } });
}
