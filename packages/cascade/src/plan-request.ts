import type { FallbackReason } from "@helm/contracts";

/** A pair as this node can use it now: the snapshot's refusal first, then the node's own. */
export interface PairState {
  pilot: string;
  target: string;
  /** The route may not use the pair at all: the target answers. */
  refusal: FallbackReason | null;
}

export interface RequestFacts {
  /** What the caller named; null where the field is absent. */
  model: string | null;
  served: ReadonlySet<string>;
  /** Routes by name; the first is the default for a request that names no model. */
  routes: ReadonlyMap<string, PairState>;
  /** Helm as a whole on this node: switch, kill switch, age of the access list, hardware. */
  helmRefusal: FallbackReason | null;
  tenantEnabled: boolean;
}

export type RequestPlan =
  | { kind: "explicit"; model: string }
  | { kind: "unknown_model" }
  | { kind: "direct"; route: string; reason: FallbackReason }
  | { kind: "pilot"; route: string };

/** An explicit model always wins; then every refusal sends the route to its target, with the first reason. */
export function planRequest(facts: RequestFacts): RequestPlan {
  if (facts.model !== null && facts.served.has(facts.model)) return { kind: "explicit", model: facts.model };
  const route = facts.model ?? facts.routes.keys().next().value;
  const pair = route === undefined ? undefined : facts.routes.get(route);
  if (route === undefined || !pair) return { kind: "unknown_model" };
  const refusal = routeRefusal(facts, pair);
  if (refusal !== null) return { kind: "direct", route, reason: refusal };
  return { kind: "pilot", route };
}

export function routeRefusal(
  facts: Pick<RequestFacts, "helmRefusal" | "tenantEnabled">,
  pair: PairState,
): FallbackReason | null {
  if (facts.helmRefusal !== null) return facts.helmRefusal;
  if (!facts.tenantEnabled) return "TENANT_OFF";
  return pair.refusal;
}
