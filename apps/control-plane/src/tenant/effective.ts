import { type EffectiveSettings, effectiveJudge, effectiveSettings } from "@helm/cascade";
import type { SnapshotRoute } from "@helm/contracts";
import { z } from "zod";
import type { Call } from "../context";
import { readPairFacts } from "../overview/route-facts";
import { defaultFirst, snapshotRoute, withJudge } from "../route/schema";
import { accessTenant } from "../snapshot/compile-access";
import { findTenant } from "./change-tenant";

const From = z.enum(["fleet", "route", "tenant"]);
export const EffectiveInput = z.object({ id: z.uuid() });
export const EffectiveOutput = z.object({
  /** Whether this tenant's requests to a route are answered by the pilot first, and who decides it. */
  helm: z.object({ on: z.boolean(), from: From, sentence: z.string() }),
  routes: z.array(
    z.object({
      name: z.string(),
      pairName: z.string(),
      /** Why this route goes to its target directly for everybody; null where its pair may be used. */
      refusal: z.string().nullable(),
      settings: z.array(z.object({ name: z.string(), value: z.string(), from: From })),
    }),
  ),
});

/** What holds for a tenant, route by route, and where each value comes from; by the rule that nodes serve by. */
export async function readEffective({
  ctx,
  input,
}: Call<z.infer<typeof EffectiveInput>>): Promise<z.infer<typeof EffectiveOutput>> {
  const tenant = await findTenant(ctx, input.id);
  const setting = await ctx.db.setting.findUniqueOrThrow({ where: { id: 1 } });
  const routes = defaultFirst(
    await ctx.db.route.findMany({ include: withJudge, orderBy: [{ createdAt: "asc" }, { id: "asc" }] }),
  );
  const pairs = await readPairFacts(ctx);
  const quota = tenant.maxConcurrent;
  return {
    helm: helmFor(tenant, setting),
    routes: routes.map((route) => {
      const served = snapshotRoute(route);
      const holds = effectiveSettings(served, accessTenant(tenant));
      const pair = pairs.get(route.pairId);
      const windowed = holds.streaming.value === "window";
      return {
        name: route.name,
        pairName: pair ? `${pair.pilot} -> ${pair.target}` : "",
        refusal: pair ? pair.refusal : "NOT_CALIBRATED",
        settings: [
          { name: "judged by", ...judgedBy(served, holds) },
          { name: "mean log-probability", ...text(holds.meanLogprob) },
          { name: "least log-probability", ...text(holds.minLogprob) },
          { name: "streaming", ...text(holds.streaming) },
          ...(windowed ? [{ name: "window", ...text(holds.window) }] : []),
          { name: "transfer", ...text(holds.transfer) },
          { name: "hold turns", value: String(route.holdTurns ?? "never down"), from: "route" as const },
          { name: "most switches", value: String(route.maxSwitches), from: "route" as const },
          { name: "default max_tokens", value: String(route.defaultMaxTokens), from: "route" as const },
          {
            name: "requests at a time on a node",
            value: quota === null ? "no limit" : String(quota),
            from: quota === null ? ("fleet" as const) : ("tenant" as const),
          },
        ],
      };
    }),
  };
}

/** Where the route's table does not hold for this tenant, it is the tenant's own word that sets it aside. */
function judgedBy(
  route: Pick<SnapshotRoute, "judge">,
  holds: EffectiveSettings,
): { value: string; from: "route" | "tenant" } {
  const rule = effectiveJudge(route, holds);
  if (rule.kind === "table")
    return {
      value: `table ${route.judge.table?.sha256.slice(0, 12) ?? ""}, from ${rule.table.threshold.toFixed(3)}`,
      from: "route",
    };
  return { value: "the two bounds", from: route.judge.table ? "tenant" : "route" };
}

function text<F>({ value, from }: { value: string | number; from: F }): { value: string; from: F } {
  return { value: String(value), from };
}

function helmFor(
  tenant: { name: string; enabled: boolean; archivedAt: Date | null },
  setting: { helmEnabled: boolean; killSwitch: boolean },
): z.infer<typeof EffectiveOutput>["helm"] {
  if (tenant.archivedAt)
    return { on: false, from: "tenant", sentence: `${tenant.name} is archived: its keys are revoked.` };
  if (setting.killSwitch)
    return { on: false, from: "fleet", sentence: "The kill switch is pulled: targets answer alone." };
  if (!setting.helmEnabled)
    return { on: false, from: "fleet", sentence: "Helm is off for everybody: targets answer alone." };
  if (!tenant.enabled)
    return {
      on: false,
      from: "tenant",
      sentence: `${tenant.name} is excluded: targets answer alone (TENANT_OFF).`,
    };
  return {
    on: true,
    from: "tenant",
    sentence: "Pilots answer first, and targets where an answer is judged hard.",
  };
}
