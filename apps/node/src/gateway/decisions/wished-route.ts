import type { Side } from "../conversations/lines";
import { badRequest, GatewayError, modelNotFound } from "../errors/gateway-error";
import type { Exchange, GatewayResources, RouteView } from "../exchange/resources";

/**
 * The route whose target, or pilot, an agent asks for: by the route's name or that model's; without a name the route that
 * its session has a conversation with, else the first.
 */
export function wishedRoute(gw: GatewayResources, x: Exchange, side: Side): RouteView {
  const routes = [...gw.routing.routes().values()];
  const { model } = x.generation;
  if (model === null) {
    const route = routes.find((view) => hasSession(gw, x, view)) ?? routes[0];
    if (!route) throw noRoute();
    return route;
  }
  const named = routes.find(({ route }) => route.name === model);
  const found = named ?? routes.find(({ pair }) => pair[side] === model);
  if (found) return found;
  if (!x.engine.models.has(model)) throw modelNotFound(model);
  throw side === "target" ? notTarget(model) : notPilot(model);
}

function notTarget(model: string): GatewayError {
  const message = `${model} is served here, but no route escalates to it.`;
  return new GatewayError(409, "model_not_target", message, { param: "model" });
}

function notPilot(model: string): GatewayError {
  const message = `${model} is served here, but no route comes down to it.`;
  return new GatewayError(409, "model_not_pilot", message, { param: "model" });
}

function hasSession(gw: GatewayResources, x: Exchange, view: RouteView): boolean {
  return (
    x.session !== null && gw.sessions.named({ tenant: x.tenant.id, pair: view.pair.id }, x.session) !== null
  );
}

/** A route may name a model that this node's engine does not have: then the name leads nowhere here. */
export function targetOf(x: Exchange, view: RouteView): string {
  if (x.engine.models.has(view.pair.target)) return view.pair.target;
  throw modelNotFound(view.route.name);
}

export function noRoute(): GatewayError {
  return badRequest("model", "This node has no route; name a model.", "model_required");
}
