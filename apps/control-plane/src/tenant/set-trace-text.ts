import { Prisma } from "@helm/db";
import { z } from "zod";
import type { Call } from "../context";
import { databaseNow, later } from "../database-clock";
import { changeTenant, findTenant } from "./change-tenant";
import { requireNotArchived, type TenantOut } from "./schema";

const HOUR_MS = 3_600_000;

export const SetTraceTextInput = z.object({
  id: z.uuid(),
  /** From now on; null withdraws. Never without an end. */
  hours: z.number().int().min(1).max(720).nullable(),
  revision: z.number().int(),
});

/** Whether traces hold what its callers write and are told. Who withdraws has what was kept deleted at once. */
export async function setTraceText({
  ctx,
  input: { id, hours, revision },
}: Call<z.infer<typeof SetTraceTextInput>>): Promise<TenantOut> {
  requireNotArchived(await findTenant(ctx, id));
  const traceTextUntil = hours === null ? null : later(await databaseNow(ctx.db), hours * HOUR_MS);
  const changed = await changeTenant(ctx, {
    verb: "tenant.setTraceText",
    id,
    revision,
    data: { traceTextUntil },
  });
  if (hours === null)
    await ctx.db.requestTrace.updateMany({
      where: { tenantId: id, text: { not: Prisma.DbNull } },
      data: { text: Prisma.DbNull },
    });
  return changed;
}
