import type { JsonBody } from "../engine/engine-client";
import type { Generation } from "./generation";
import type { Exchange, RouteView } from "./resources";

/** A request without max_tokens gets the route's default. */
export function routeMaxTokens(x: Exchange, view: RouteView): number {
  return x.generation.maxTokens ?? view.route.default_max_tokens;
}

export function withMaxTokens(generation: Generation, view: RouteView): JsonBody {
  if (generation.maxTokens !== null) return generation.body;
  return { ...generation.body, max_tokens: view.route.default_max_tokens };
}
