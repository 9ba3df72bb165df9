import { planRequest } from "@helm/cascade";
import { FallbackReason } from "@helm/contracts";
import { countPrompt } from "./admit";
import { badRequest, GatewayError, modelNotFound } from "./gateway-error";
import { pairState } from "./pair-state";
import type { Exchange, GatewayResources, RouteView } from "./resources";
import { serveByTarget } from "./serve-by-target";
import { serveExplicit } from "./serve-explicit";
import { serveRouted } from "./serve-routed";

/** A chat or completion request: whose it is has been decided, who answers it is decided here. */
export async function serveGeneration(gw: GatewayResources, x: Exchange): Promise<void> {
  const routes = gw.routing.routes();
  const asked = x.generation.model === null ? routes.values().next().value : routes.get(x.generation.model);
  const plan = planRequest({
    model: x.generation.model,
    served: new Set(x.engine.models.keys()),
    routes: new Map([...routes].map(([name, view]) => [name, pairState(view)])),
    helmRefusal: gw.routing.helmRefusal(),
    tenantEnabled: x.tenant.enabled,
    session: gw.sessions.holder(x.tenant.id, x.session, asked?.route.hold_turns),
  });
  switch (plan.kind) {
    case "explicit":
      return serveExplicit(gw, x, plan.model);
    case "unknown_model":
      throw x.generation.model === null ? noRoute() : modelNotFound(x.generation.model);
    case "pilot":
      return serveRouted(gw, x, viewOf(routes, plan.route));
    case "direct": {
      const view = viewOf(routes, plan.route);
      const count = await countPrompt(x, targetOf(x, view));
      return serveByTarget(gw, x, view, {
        count,
        decision: "direct",
        reason: plan.reason,
        fallback: FallbackReason.safeParse(plan.reason).success,
      });
    }
  }
}

/** An agent asks for the target in the middle of a conversation: no pilot answer, no judge, the state is carried. */
export async function serveEscalate(gw: GatewayResources, x: Exchange): Promise<void> {
  const view = escalationRoute(gw, x);
  const count = await countPrompt(x, targetOf(x, view));
  return serveByTarget(gw, x, view, { count, decision: "escalated", reason: "AGENT", fallback: false });
}

function escalationRoute(gw: GatewayResources, x: Exchange): RouteView {
  const routes = gw.routing.routes();
  const { model } = x.generation;
  const first = routes.values().next().value;
  if (model === null) {
    if (!first) throw noRoute();
    return first;
  }
  const named = routes.get(model) ?? [...routes.values()].find((view) => view.pair.target === model);
  if (named) return named;
  if (!x.engine.models.has(model)) throw modelNotFound(model);
  throw new GatewayError(409, "model_not_target", `${model} is served here, but no route escalates to it.`, {
    param: "model",
  });
}

function viewOf(routes: ReadonlyMap<string, RouteView>, name: string): RouteView {
  const view = routes.get(name);
  if (!view) throw modelNotFound(name);
  return view;
}

/** A route may name a model that this node's engine does not have: then the name leads nowhere here. */
function targetOf(x: Exchange, view: RouteView): string {
  if (x.engine.models.has(view.pair.target)) return view.pair.target;
  throw modelNotFound(view.route.name);
}

function noRoute(): GatewayError {
  return badRequest("model", "This node has no route; name a model.", "model_required");
}
