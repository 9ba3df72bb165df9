import type { ServingEngine } from "../engine/serving-engine";
import { isDraining, takesRequests } from "../serving/serving-states";
import { baseHeaders } from "./answers/helm-headers";
import type { ResponseWriter } from "./answers/response-writer";
import type { GatewayResources } from "./exchange/resources";

/** 200 while requests are taken; 503 before the engine has joined, while it is away, and while the node drains or stops. */
export function answerHealth(
  gw: GatewayResources,
  writer: ResponseWriter,
  traceId: string,
  stopping: boolean,
): void {
  const engine = gw.engine();
  const { state } = gw.serving;
  const good = engine !== null && !stopping && takesRequests(state);
  void writer.json(good ? 200 : 503, baseHeaders(traceId, gw.development), {
    status: good ? "ok" : stopping || isDraining(state) ? "draining" : "starting",
    serving: state,
    engine: engine?.name ?? null,
    models: engine ? [...engine.models.keys()] : [],
    configured: gw.routing.configured,
  });
}

export async function writeMetrics(gw: GatewayResources, writer: ResponseWriter): Promise<void> {
  const text = await gw.metrics.registry.metrics();
  writer.start(200, { "content-type": gw.metrics.registry.contentType });
  writer.end(text);
}

/** Served models as the engine describes them, and the routes. */
export function listModels(
  gw: GatewayResources,
  engine: ServingEngine,
  writer: ResponseWriter,
  traceId: string,
): void {
  const routes = [...gw.routing.routes().values()].map(({ route, pair }) => ({
    id: route.name,
    object: "model",
    created: 0,
    owned_by: "helm",
    helm: { pilot: pair.pilot, target: pair.target },
  }));
  void writer.json(200, baseHeaders(traceId, gw.development), {
    object: "list",
    data: [...engine.models.values(), ...routes],
  });
}
