import type { JsonBody } from "../../engine/engine-client";
import type { Generation } from "../bodies/generation";
import type { PromptCount } from "../exchange/prompt-count";
import type { Exchange, RouteView } from "../exchange/resources";

/** A request without max_tokens gets the route's default, as far as the prompt leaves room for it in both models. */
export function routeMaxTokens(x: Exchange, view: RouteView, count: PromptCount): number {
  const { maxTokens } = x.generation;
  if (maxTokens !== null) return maxTokens;
  const { pilot, target } = view.pair;
  return roomFor(x, [pilot, target], count, view.route.default_max_tokens);
}

/** A default that nobody asked for must not be what makes a prompt too long. */
export function roomFor(
  x: Exchange,
  models: readonly string[],
  count: PromptCount,
  fallback: number,
): number {
  const lengths = models.map((name) => x.engine.models.get(name)?.max_model_len ?? Number.POSITIVE_INFINITY);
  return Math.max(1, Math.min(fallback, Math.min(...lengths) - Math.max(...count.lengths)));
}

export function withMaxTokens(generation: Generation, maxTokens: number): JsonBody {
  return generation.maxTokens === null ? { ...generation.body, max_tokens: maxTokens } : generation.body;
}
