import { HelmError, ModelFacts, NodeReadiness } from "@helm/contracts";
import { checkPair } from "@helm/pairing";
import type { Context } from "../context";
import { Offers } from "../host/list";
import { lockNames } from "../pair/lock-names";

/** A name that a model has would be served by that model: an explicit model is never overridden. */
export async function requireFreeName(ctx: Context, name: string): Promise<void> {
  await lockNames(ctx, [name]);
  if (await ctx.db.route.findUnique({ where: { name } }))
    throw new HelmError("CONFLICT", `There is a route ${name} already. Edit it, or choose another name.`);
  const where = await whereServed(ctx, name);
  if (where === null) return;
  throw new HelmError(
    "BAD_REQUEST",
    `${name} is the name of a model (${where}): whoever asks for it gets that model and never a route. Choose another name.`,
    { issues: [{ path: "name", message: `a model has this name (${where})` }] },
  );
}

async function whereServed(ctx: Context, name: string): Promise<string | null> {
  if (await ctx.db.model.findUnique({ where: { name }, select: { id: true } })) return "registered here";
  const pending = await ctx.db.pairRegistration.findFirst({
    where: { state: "PENDING", OR: [{ sourceModel: name }, { targetModel: name }] },
    select: { id: true },
  });
  if (pending) return "a pair of it is being registered";
  const hosts = await ctx.db.host.findMany({ where: { revokedAt: null }, include: { nodeState: true } });
  for (const host of hosts) {
    const readiness = NodeReadiness.safeParse(host.nodeState?.readiness);
    if (readiness.data?.engine.models.some((model) => model.id === name)) return `served by ${host.name}`;
    if (Offers.safeParse(host.offers).data?.models?.includes(name)) return `on worker ${host.name}`;
  }
  return null;
}

/** The pair exists, and its two models, as they were read last, still may be one. */
export async function requirePossiblePair(ctx: Context, pairId: string): Promise<void> {
  const pair = await ctx.db.pair.findUnique({
    where: { id: pairId },
    include: { source: true, target: true },
  });
  if (!pair) throw new HelmError("NOT_FOUND", "There is no such pair. Register it first.");
  const [source, target] = [pair.source, pair.target].map((model) => ModelFacts.parse(model.facts));
  if (!source || !target) return;
  const check = checkPair(source, target, { requireTokenizer: true });
  if (check.ok) return;
  throw new HelmError(
    "PAIR_IMPOSSIBLE",
    `${source.id} -> ${target.id} cannot be a pair any more: ${check.causes.map(({ sentence }) => sentence).join(" ")}`,
    { causes: check.causes },
  );
}
