import { RoutingSnapshot } from "@helm/contracts";
import type { z } from "zod";

/** A snapshot without its number and time: what nodes should do. */
export const RoutingContent = RoutingSnapshot.pick({ helm_enabled: true, routes: true, pairs: true });
export type RoutingContent = z.infer<typeof RoutingContent>;
export type ContentPair = RoutingContent["pairs"][number];
export type ContentRoute = RoutingContent["routes"][number];

/** Content out of a document or a row. Keys come in the schema's order, so equal content is equal text. */
export function readContent(text: string): RoutingContent {
  return orderContent(JSON.parse(text));
}

export function orderContent(content: unknown): RoutingContent {
  const { helm_enabled, routes, pairs } = RoutingContent.parse(content);
  return {
    helm_enabled,
    // In the order given: the first route is the default one.
    routes,
    pairs: pairs
      .map((pair) => ({ ...pair, nodes: pair.nodes ? [...pair.nodes].sort() : null }))
      .sort((a, b) => compare(a.id, b.id)),
  };
}

export function sameContent(a: RoutingContent, b: RoutingContent): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
