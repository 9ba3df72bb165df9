import { PLAYGROUND_TENANT } from "@helm/contracts";
import { z } from "zod";
import type { Context } from "../context";

/** What the audit keeps of a tenant that was removed. */
const Removed = z.object({ name: z.string() });

/** Names for the ids in counters and traces, which outlive what they count. */
export interface TrafficNames {
  tenant(id: string): string;
  pair(id: string): string | null;
}

export async function readNames(ctx: Context, tenantIds: Iterable<string>): Promise<TrafficNames> {
  const known = await ctx.db.tenant.findMany({ select: { id: true, name: true } });
  const tenants = new Map(known.map(({ id, name }) => [id, name]));
  tenants.set(PLAYGROUND_TENANT, "Playground");
  const nameless = [...new Set(tenantIds)].filter((id) => !tenants.has(id));
  for (const [id, name] of await namesOfRemoved(ctx, nameless)) tenants.set(id, `${name} (removed)`);
  const pairs = await ctx.db.pair.findMany({
    select: { id: true, source: { select: { name: true } }, target: { select: { name: true } } },
  });
  const named = new Map(pairs.map((pair) => [pair.id, `${pair.source.name} -> ${pair.target.name}`]));
  return {
    tenant: (id) => tenants.get(id) ?? id,
    pair: (id) => (id === "" ? null : (named.get(id) ?? id)),
  };
}

/** A tenant may be removed while a node still holds counts of it: what the audit says of its removal keeps their name. */
async function namesOfRemoved(ctx: Context, ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const removals = await ctx.db.auditEntry.findMany({
    where: { entity: "tenant", entityId: { in: ids }, verb: "tenant.remove" },
    select: { entityId: true, before: true },
  });
  return new Map(removals.map(({ entityId, before }) => [entityId, Removed.parse(before).name]));
}
