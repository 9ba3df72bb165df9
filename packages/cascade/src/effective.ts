import type { AccessList, SnapshotRoute, StreamingMode } from "@helm/contracts";
import type { JudgeRule } from "./judge/judge-answers";

/** A value that holds, and who said it. */
export interface Effective<T> {
  value: T;
  from: "route" | "tenant";
}

type TenantSays = Pick<
  AccessList["tenants"][number],
  "streaming" | "window" | "mean_logprob" | "min_logprob" | "transfer_off"
>;

export interface EffectiveSettings {
  streaming: Effective<StreamingMode>;
  window: Effective<number>;
  meanLogprob: Effective<number>;
  minLogprob: Effective<number>;
  transfer: Effective<"on" | "off">;
}

/**
 * What holds for a tenant's requests to a route: its own word where it has one, else the route's. Nodes serve by this and
 * the control plane shows it, so that the two cannot come apart.
 */
export function effectiveSettings(
  route: Pick<SnapshotRoute, "streaming" | "window" | "judge">,
  tenant: TenantSays,
): EffectiveSettings {
  return {
    streaming: prefer(tenant.streaming, route.streaming),
    window: prefer(tenant.window, route.window),
    meanLogprob: prefer(tenant.mean_logprob, route.judge.mean_logprob),
    minLogprob: prefer(tenant.min_logprob, route.judge.min_logprob),
    transfer:
      tenant.transfer_off === true ? { value: "off", from: "tenant" } : { value: "on", from: "route" },
  };
}

/**
 * The judge that holds: the route's table, where it was calibrated for the mode and window that hold and the tenant has no
 * bounds of its own; else the two bounds. A table never judges what it was not calibrated for.
 */
export function effectiveJudge(route: Pick<SnapshotRoute, "judge">, settings: EffectiveSettings): JudgeRule {
  const { streaming, window, meanLogprob, minLogprob } = settings;
  const table = route.judge.table;
  const fits =
    table?.streaming === streaming.value && (table.window === null || table.window === window.value);
  const ownBounds = meanLogprob.from === "tenant" || minLogprob.from === "tenant";
  if (table && fits && !ownBounds) return { kind: "table", table };
  return { kind: "bounds", mean_logprob: meanLogprob.value, min_logprob: minLogprob.value };
}

function prefer<T>(own: T | null | undefined, otherwise: T): Effective<T> {
  return own === null || own === undefined
    ? { value: otherwise, from: "route" }
    : { value: own, from: "tenant" };
}
