import type { ArmName, Assessment } from "@helm/contracts";

export type ArmKind = "mapper" | "rival" | "control";

/** What each arm is, in words; bounds that the machinery itself must hold are named as controls. */
export const ARMS: Record<ArmName, { name: string; kind: ArmKind; words: string }> = {
  mapper: { name: "this mapper", kind: "mapper", words: "the pilot's cache, mapped as it will be served" },
  identity: {
    name: "identity",
    kind: "control",
    words: "the target's own cache through the same machinery; must stay whole",
  },
  self_map: {
    name: "self-map",
    kind: "control",
    words: "a map fitted from the target to itself; must lose next to nothing",
  },
  zero_cache: { name: "zero cache", kind: "rival", words: "prefix rows zero, positions kept" },
  other_sequence: {
    name: "other sequence's cache",
    kind: "rival",
    words: "the target's own, of another probe of the same length",
  },
  no_rerotation: { name: "no re-rotation", kind: "rival", words: "mapped keys left in the pilot's rotation" },
  shuffled_heads: { name: "shuffled heads", kind: "rival", words: "target heads moved on by one" },
  pilot_alone: { name: "pilot alone", kind: "rival", words: "the pilot's own next token on the same answer" },
  plain_ridge: { name: "plain ridge", kind: "rival", words: "the baseline map, same layers" },
};

export type LadderRow = {
  arm: ArmName;
  retention: number;
  low: number;
  high: number;
  n: number;
  buckets: { first: number; early: number; late: number };
};

/** Every arm that was scored, lowest first, this mapper among them. */
export function ladderRows(assessment: Assessment): LadderRow[] {
  const { retention } = assessment;
  const mapper: LadderRow = {
    arm: "mapper",
    retention: retention.value,
    low: retention.low,
    high: retention.high,
    n: retention.n,
    buckets: retention.buckets,
  };
  const others = Object.entries(assessment.arms)
    .filter(([arm]) => arm !== "mapper")
    .map(([arm, score]) => ({ arm: arm as ArmName, ...score }));
  return [mapper, ...others].sort((a, b) => a.retention - b.retention);
}
