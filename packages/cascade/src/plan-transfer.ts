import type { FallbackReason } from "@helm/contracts";

export interface TransferFacts {
  /** Anything that refuses Helm for this request: switch, tenant, pair. */
  routeRefusal: FallbackReason | null;
  tenantTransferOff: boolean;
  /** The node has the mapper loaded and its canary passed. */
  mapperReady: boolean;
  /** Prompt tokens from which a transfer pays here; null: it never does. */
  minTokens: number | null;
  promptTokens: number;
  /** `force` moves whatever can be moved; only a development node may be asked to. */
  wish: "auto" | "force" | "off";
}

export type TransferPlan =
  | { kind: "transfer" }
  | { kind: "native"; reason: FallbackReason }
  | { kind: "not_wanted" };

/** Whether an escalation carries the pilot's cache across; the first reason against it is the one that is told. */
export function planTransfer(facts: TransferFacts): TransferPlan {
  if (facts.routeRefusal !== null) return { kind: "native", reason: facts.routeRefusal };
  if (facts.wish === "off") return { kind: "not_wanted" };
  if (facts.tenantTransferOff) return { kind: "native", reason: "TENANT_OFF" };
  if (!facts.mapperReady) return { kind: "native", reason: "MAPPER_NOT_RESIDENT" };
  if (facts.wish === "force") return { kind: "transfer" };
  if (facts.minTokens === null || facts.promptTokens < facts.minTokens) {
    return { kind: "native", reason: "BLOCK_TOO_SMALL" };
  }
  return { kind: "transfer" };
}
