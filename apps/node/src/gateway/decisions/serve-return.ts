import { routeRefusal } from "@helm/cascade";
import { countPrompt } from "../admission/admit";
import { openConversation } from "../conversations/open-conversation";
import { pairState } from "../conversations/pair-state";
import type { Exchange, GatewayResources } from "../exchange/resources";
import { serveByTarget } from "./serve-by-target";
import { serveRouted } from "./serve-routed";
import { targetOf, wishedRoute } from "./wished-route";

/** An agent brings a conversation down again: the pilot answers, from the target's cache, and nothing is judged. */
export async function serveReturn(gw: GatewayResources, x: Exchange): Promise<void> {
  const view = wishedRoute(gw, x, "pilot");
  await openConversation(gw, x, view);
  const helm = { helmRefusal: gw.routing.helmRefusal(), tenantEnabled: x.tenant.enabled };
  const refusal = routeRefusal(helm, pairState(view));
  if (refusal === null) return serveRouted(gw, x, view, { asked: "RETURNED" });
  const count = await countPrompt(x, targetOf(x, view));
  return serveByTarget(gw, x, view, { count, decision: "direct", reason: refusal, fallback: true });
}
