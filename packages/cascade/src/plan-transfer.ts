import type { FallbackReason } from "@helm/contracts";

export interface TransferFacts {
  /** Anything that refuses Helm for this request: switch, tenant, pair. */
  routeRefusal: FallbackReason | null;
  tenantTransferOff: boolean;
  /** How often this conversation's cache was carried across, and how often it may be. */
  switches: number;
  maxSwitches: number;
  /** The node has the mapper loaded and its canary passed. */
  mapperReady: boolean;
  /** Prompt tokens from which a transfer pays here; null: it never does. */
  minTokens: number | null;
  promptTokens: number;
  /** What the answering model holds of this prompt already, and whether mapped rows are among it. */
  expectedHit: { tokens: number; mapped: boolean };
  /** `force` moves whatever can be moved; only a development node may be asked to. */
  wish: "auto" | "force" | "off";
}

export type TransferPlan =
  | { kind: "transfer" }
  /** The model goes on from the line it holds; what is new is too little to be carried. */
  | { kind: "continue" }
  | { kind: "native"; reason: FallbackReason }
  | { kind: "not_wanted" };

/** Whether a change of models carries the cache across; the first reason against it is the one that is told. */
export function planTransfer(facts: TransferFacts): TransferPlan {
  const { minTokens, promptTokens, expectedHit } = facts;
  if (facts.routeRefusal !== null) return { kind: "native", reason: facts.routeRefusal };
  if (facts.wish === "off") return { kind: "not_wanted" };
  if (facts.tenantTransferOff) return { kind: "native", reason: "TENANT_OFF" };
  if (facts.switches >= facts.maxSwitches) return { kind: "native", reason: "DRIFT_LIMIT" };
  if (!facts.mapperReady) return { kind: "native", reason: "MAPPER_NOT_RESIDENT" };
  if (facts.wish === "force") return { kind: "transfer" };
  if (minTokens === null || promptTokens - expectedHit.tokens < minTokens) {
    return expectedHit.mapped ? { kind: "continue" } : { kind: "native", reason: "BLOCK_TOO_SMALL" };
  }
  return { kind: "transfer" };
}
