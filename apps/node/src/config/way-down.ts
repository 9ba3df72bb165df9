import type { FallbackReason, RoutingSnapshot, SnapshotPair } from "@helm/contracts";

/**
 * Why a pair may not carry a conversation down again. That its answering model does no better than the one it reads from
 * speaks against escalating to it, and not against coming back to it.
 */
export function refusedDownwards(refusal: FallbackReason | null): FallbackReason | null {
  return refusal === "NOT_ABOVE_PILOT" ? null : refusal;
}

/** The snapshot's pairs as this node makes them ready: those that a route comes down by are asked for no more than that. */
export function pairsToReady(snapshot: RoutingSnapshot): SnapshotPair[] {
  const routed = new Set(snapshot.routes.map((route) => route.pair_id));
  const up = snapshot.pairs.filter(({ id }) => routed.has(id));
  const isWayDown = ({ pilot, target }: SnapshotPair) =>
    up.some((pair) => pair.pilot === target && pair.target === pilot && pilot !== target);
  return snapshot.pairs.map((pair) =>
    isWayDown(pair) ? { ...pair, refusal: refusedDownwards(pair.refusal) } : pair,
  );
}
