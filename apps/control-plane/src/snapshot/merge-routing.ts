import type { ContentPair, ContentRoute, RoutingContent } from "./routing-content";
import { orderContent } from "./routing-content";

/**
 * What was changed between `base` and `next`, done to `held` as well: a deliberate change made during a rollback takes
 * effect, and brings nothing else back. Parts of a pair that only make sense together move together.
 */
export function mergeRouting(
  held: RoutingContent,
  base: RoutingContent,
  next: RoutingContent,
): RoutingContent {
  const pairs = mergeList(held.pairs, base.pairs, next.pairs, ({ id }) => id, mergePair);
  const routes = mergeList(held.routes, base.routes, next.routes, ({ name }) => name, mergeRoute);
  // A route that was brought in may name a pair that the old content did not have yet.
  const missing = next.pairs.filter(
    ({ id }) => routes.some((route) => route.pair_id === id) && !pairs.some((pair) => pair.id === id),
  );
  const place = new Map(next.routes.map(({ name }, index) => [name, index]));
  routes.sort((a, b) => (place.get(a.name) ?? Infinity) - (place.get(b.name) ?? Infinity));
  return orderContent({
    helm_enabled: pick(held.helm_enabled, base.helm_enabled, next.helm_enabled),
    routes,
    pairs: [...pairs, ...missing],
  });
}

function mergeRoute(held: ContentRoute, base: ContentRoute, next: ContentRoute): ContentRoute {
  return pickFields(held, base, next, Object.keys(next) as (keyof ContentRoute)[]);
}

const MAPPER: (keyof ContentPair)[] = ["mapper_sha256", "mapper_bytes", "refusal", "development"];
const MODELS: (keyof ContentPair)[] = ["pilot", "target", "pilot_weights_sha256", "target_weights_sha256"];
const NODES: (keyof ContentPair)[] = ["nodes"];

function mergePair(held: ContentPair, base: ContentPair, next: ContentPair): ContentPair {
  let merged = held;
  for (const fields of [MAPPER, MODELS, NODES]) {
    const changed = fields.some((field) => !same(base[field], next[field]));
    if (changed) merged = { ...merged, ...Object.fromEntries(fields.map((field) => [field, next[field]])) };
  }
  return merged;
}

function mergeList<T>(
  held: readonly T[],
  base: readonly T[],
  next: readonly T[],
  nameOf: (one: T) => string,
  merge: (held: T, base: T, next: T) => T,
): T[] {
  const before = new Map(base.map((one) => [nameOf(one), one]));
  const after = new Map(next.map((one) => [nameOf(one), one]));
  const kept = held.flatMap((one) => {
    const [was, is] = [before.get(nameOf(one)), after.get(nameOf(one))];
    if (was && !is) return [];
    return was && is ? [merge(one, was, is)] : [one];
  });
  const names = new Set(held.map(nameOf));
  const added = next.filter((one) => !before.has(nameOf(one)) && !names.has(nameOf(one)));
  return [...kept, ...added];
}

function pickFields<T>(held: T, base: T, next: T, fields: readonly (keyof T)[]): T {
  const merged = { ...held };
  for (const field of fields) merged[field] = pick(held[field], base[field], next[field]);
  return merged;
}

function pick<T>(held: T, base: T, next: T): T {
  return same(base, next) ? held : next;
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}
