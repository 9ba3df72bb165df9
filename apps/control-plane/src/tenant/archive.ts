import { HelmError } from "@helm/contracts";
import { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import type { Call, Context } from "../context";
import { conflictOf } from "../revision/conflict";
import { changeTenant, findTenant } from "./change-tenant";
import { lockTenant } from "./lock-tenant";
import { requireNotArchived, type TenantOut } from "./schema";

export const TenantEditInput = z.object({ id: z.uuid(), revision: z.number().int() });
export const RemoveTenantOutput = z.object({ id: z.uuid(), name: z.string() });

type Edit = Call<z.infer<typeof TenantEditInput>>;

/** Put away: its keys are revoked, it is excluded, and its counts keep their name. */
export async function archiveTenant({ ctx, input: { id, revision } }: Edit): Promise<TenantOut> {
  requireNotArchived(await lockTenant(ctx, id));
  const now = new Date();
  await revokeKeys(ctx, id, now);
  return changeTenant(ctx, {
    verb: "tenant.archive",
    id,
    revision,
    data: { enabled: false, archivedAt: now },
  });
}

async function revokeKeys(ctx: Context, tenantId: string, revokedAt: Date): Promise<void> {
  // In the order in which nodes' reports of their use are written.
  await ctx.db.$executeRaw`
    SELECT 1 FROM "api_key" WHERE "tenant_id" = ${tenantId}::uuid ORDER BY "prefix" FOR NO KEY UPDATE`;
  await ctx.db.apiKey.updateMany({ where: { tenantId, revokedAt: null }, data: { revokedAt } });
}

/** Taken out again, excluded as a new one; its revoked keys stay revoked. */
export async function restoreTenant({ ctx, input: { id, revision } }: Edit): Promise<TenantOut> {
  const { name, archivedAt } = await lockTenant(ctx, id);
  if (!archivedAt) throw new HelmError("ILLEGAL_TRANSITION", `${name} is not archived.`);
  // Archiving has revoked them all; one that an older version let slip must not come back to life here.
  await revokeKeys(ctx, id, new Date());
  return changeTenant(ctx, { verb: "tenant.restore", id, revision, data: { archivedAt: null } });
}

/** Gone for good with its keys; only who never called, or counts would stand there without a name. */
export async function removeTenant({ ctx, input: { id, revision } }: Edit) {
  const tenant = await lockTenant(ctx, id);
  const counted = await ctx.db.requestStat.findFirst({ where: { tenantId: id }, select: { bucket: true } });
  const countedLongAgo = await ctx.db.requestStatHour.findFirst({
    where: { tenantId: id },
    select: { bucket: true },
  });
  if (counted || countedLongAgo || tenant.keys.lastUsedAt)
    throw new HelmError(
      "BAD_REQUEST",
      `${tenant.name} has called, and its counts keep its name: archive it instead. That revokes its keys.`,
    );
  const gone = await ctx.db.tenant.deleteMany({ where: { id, revision } });
  if (gone.count === 0)
    throw await conflictOf(ctx, {
      entity: "tenant",
      entityId: id,
      what: `the tenant ${tenant.name}`,
      revision,
      current: await findTenant(ctx, id),
    });
  await writeAudit(ctx, {
    verb: "tenant.remove",
    entity: "tenant",
    entityId: id,
    before: { name: tenant.name, enabled: tenant.enabled, keys: tenant.keys.total },
  });
  return { id, name: tenant.name };
}
