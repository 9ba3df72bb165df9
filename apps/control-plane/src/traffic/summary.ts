import { z } from "zod";
import type { Call, Context } from "../context";

export const TrafficInput = z
  .object({ hours: z.number().int().min(1).max(720).default(24) })
  .default({ hours: 24 });
export const TrafficOutput = z.object({
  since: z.date(),
  rows: z.array(
    z.object({
      tenant: z.string(),
      pair: z.string().nullable(),
      decision: z.string(),
      reason: z.string().nullable(),
      transfer: z.string().nullable(),
      requests: z.number().int(),
      tokensMoved: z.number().int(),
      firstTokenMsMean: z.number().nullable(),
    }),
  ),
});

/** What the audit keeps of a tenant that was removed. */
const Removed = z.object({ name: z.string() });

/** Counters as nodes reported them, summed over all nodes. */
export async function summariseTraffic({ ctx, input }: Call<z.infer<typeof TrafficInput>>) {
  const since = new Date(Date.now() - input.hours * 3_600_000);
  const groups = await ctx.db.requestStat.groupBy({
    by: ["tenantId", "pairId", "decision", "reason", "transfer"],
    where: { bucket: { gte: since } },
    _sum: { requests: true, tokensMoved: true, firstTokenMsSum: true },
  });
  const tenants = new Map(
    (await ctx.db.tenant.findMany({ select: { id: true, name: true } })).map((row) => [row.id, row.name]),
  );
  const nameless = groups.map(({ tenantId }) => tenantId).filter((id) => !tenants.has(id));
  for (const [id, name] of await namesOfRemoved(ctx, nameless)) tenants.set(id, `${name} (removed)`);
  const pairs = await ctx.db.pair.findMany({ include: { source: true, target: true } });
  const names = new Map(pairs.map((pair) => [pair.id, `${pair.source.name} -> ${pair.target.name}`]));
  const rows = groups.map((group) => {
    const requests = Number(group._sum.requests ?? 0);
    return {
      tenant: tenants.get(group.tenantId) ?? group.tenantId,
      pair: group.pairId === "" ? null : (names.get(group.pairId) ?? group.pairId),
      decision: group.decision,
      reason: group.reason || null,
      transfer: group.transfer || null,
      requests,
      tokensMoved: Number(group._sum.tokensMoved ?? 0),
      firstTokenMsMean: requests > 0 ? (group._sum.firstTokenMsSum ?? 0) / requests : null,
    };
  });
  return { since, rows: rows.sort((a, b) => b.requests - a.requests) };
}

/** A tenant may be removed while a node still holds counts of it: what the audit says of its removal keeps their name. */
async function namesOfRemoved(ctx: Context, ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const removals = await ctx.db.auditEntry.findMany({
    where: { entity: "tenant", entityId: { in: [...new Set(ids)] }, verb: "tenant.remove" },
    select: { entityId: true, before: true },
  });
  return new Map(removals.map(({ entityId, before }) => [entityId, Removed.parse(before).name]));
}
