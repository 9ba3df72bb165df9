import { HelmError } from "@helm/contracts";
import { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import type { Call } from "../context";
import { conflictOf } from "../revision/conflict";
import { changeTenant, findTenant } from "./change-tenant";
import { requireNotArchived, type TenantOut } from "./schema";

export const TenantEditInput = z.object({ id: z.uuid(), revision: z.number().int() });
export const RemoveTenantOutput = z.object({ id: z.uuid(), name: z.string() });

type Edit = Call<z.infer<typeof TenantEditInput>>;

/** Put away: its keys are revoked, it is excluded, and its counts keep their name. */
export async function archiveTenant({ ctx, input: { id, revision } }: Edit): Promise<TenantOut> {
  requireNotArchived(await findTenant(ctx, id));
  const now = new Date();
  await ctx.db.apiKey.updateMany({ where: { tenantId: id, revokedAt: null }, data: { revokedAt: now } });
  return changeTenant(ctx, {
    verb: "tenant.archive",
    id,
    revision,
    data: { enabled: false, archivedAt: now },
  });
}

/** Taken out again, excluded as a new one; its revoked keys stay revoked. */
export async function restoreTenant({ ctx, input: { id, revision } }: Edit): Promise<TenantOut> {
  const { name, archivedAt } = await findTenant(ctx, id);
  if (!archivedAt) throw new HelmError("ILLEGAL_TRANSITION", `${name} is not archived.`);
  return changeTenant(ctx, { verb: "tenant.restore", id, revision, data: { archivedAt: null } });
}

/** Gone for good with its keys; only who never called, or counts would stand there without a name. */
export async function removeTenant({ ctx, input: { id, revision } }: Edit) {
  const tenant = await findTenant(ctx, id);
  const counted = await ctx.db.requestStat.findFirst({ where: { tenantId: id }, select: { bucket: true } });
  if (counted)
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
