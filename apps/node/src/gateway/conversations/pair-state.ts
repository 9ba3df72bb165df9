import type { PairState } from "@helm/cascade";
import { FallbackReason } from "@helm/contracts";
import type { PairView } from "../exchange/resources";

/**
 * Whether a route may use its pair on this node. What the snapshot or the node refuses goes to the target at once; a
 * mapper still on its way is no refusal: the cascade works, and escalations prefill until it is there.
 */
export function pairState({ pair, readiness }: PairView): PairState {
  const { pilot, target } = pair;
  if (pair.refusal !== null) return { pilot, target, refusal: pair.refusal };
  if (readiness.state !== "REFUSED") return { pilot, target, refusal: null };
  const code = FallbackReason.safeParse(readiness.code);
  return { pilot, target, refusal: code.success ? code.data : "ENGINE_ERROR" };
}
