import { planRequest } from "@helm/cascade";
import { FallbackReason } from "@helm/contracts";
import { countPrompt } from "../admission/admit";
import { openConversation } from "../conversations/open-conversation";
import { pairState } from "../conversations/pair-state";
import { modelNotFound } from "../errors/gateway-error";
import type { Exchange, GatewayResources, RouteView } from "../exchange/resources";
import { serveByTarget } from "./serve-by-target";
import { serveExplicit } from "./serve-explicit";
import { serveRouted } from "./serve-routed";
import { noRoute, targetOf, wishedRoute } from "./wished-route";

/** A chat or completion request: whose it is has been decided, who answers it is decided here. */
export async function serveGeneration(gw: GatewayResources, x: Exchange): Promise<void> {
  const { model } = x.generation;
  // As the plan below says too; who names a served model does not wait for routes to be looked at.
  if (model !== null && x.engine.models.has(model)) return serveExplicit(gw, x, model);
  const routes = gw.routing.routes();
  const plan = planRequest({
    model: x.generation.model,
    served: new Set(x.engine.models.keys()),
    routes: new Map([...routes].map(([name, view]) => [name, pairState(view)])),
    helmRefusal: gw.routing.helmRefusal(),
    tenantEnabled: x.tenant.enabled,
  });
  switch (plan.kind) {
    case "explicit":
      return serveExplicit(gw, x, plan.model);
    case "unknown_model":
      throw x.generation.model === null ? noRoute() : modelNotFound(x.generation.model);
    case "pilot":
      return serveConversation(gw, x, viewOf(routes, plan.route));
    case "direct": {
      const view = viewOf(routes, plan.route);
      const count = await countPrompt(x, targetOf(x, view));
      const fallback = FallbackReason.safeParse(plan.reason).success;
      return serveByTarget(gw, x, view, { count, decision: "direct", reason: plan.reason, fallback });
    }
  }
}

/** Within a conversation the answering model does not flip: one that came to the target stays there for its turns. */
async function serveConversation(gw: GatewayResources, x: Exchange, view: RouteView): Promise<void> {
  const conversation = await openConversation(gw, x, view);
  if (!conversation.heldByTarget(view.route.hold_turns, x.generation.toolLoop)) {
    return serveRouted(gw, x, view);
  }
  const count = await countPrompt(x, targetOf(x, view));
  return serveByTarget(gw, x, view, { count, decision: "direct", reason: "SESSION_HELD", fallback: false });
}

/** An agent asks for the target in the middle of a conversation: no pilot answer, no judge, the state is carried. */
export async function serveEscalate(gw: GatewayResources, x: Exchange): Promise<void> {
  const view = wishedRoute(gw, x, "target");
  await openConversation(gw, x, view);
  const count = await countPrompt(x, targetOf(x, view));
  return serveByTarget(gw, x, view, { count, decision: "escalated", reason: "AGENT", fallback: false });
}

function viewOf(routes: ReadonlyMap<string, RouteView>, name: string): RouteView {
  const view = routes.get(name);
  if (!view) throw modelNotFound(name);
  return view;
}
