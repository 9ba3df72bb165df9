import type { ArmName, SequenceCounts } from "@helm/contracts";
import type { AssessmentInput } from "./assess";

/** One sequence with three hand-over points: 3, 45 and 144 positions. For tests. */
export function sequence(index: number, share: number, extra: Partial<SequenceCounts> = {}): SequenceCounts {
  const count = (total: number) => ({ agree: Math.round(total * share), total });
  return {
    id: `s${index}`,
    domain: index % 2 ? "prose" : "chat",
    split: "gate",
    prefixes: [64, 128, 256],
    first: count(3),
    early: count(45),
    late: count(144),
    gold_gain: 1.5,
    native_gold_gain: 2,
    ...extra,
  };
}

export function many(
  n: number,
  share: number | ((index: number) => number),
  extra: Partial<SequenceCounts> = {},
): SequenceCounts[] {
  return Array.from({ length: n }, (_, i) =>
    sequence(i, typeof share === "number" ? share : share(i), extra),
  );
}

/** The same sequences and positions with another share of agreement. */
function like(rows: SequenceCounts[], share: number): SequenceCounts[] {
  const count = ({ total }: { total: number }) => ({ agree: Math.round(total * share), total });
  return rows.map(({ id, domain, split, prefixes, first, early, late }) => ({
    id,
    domain,
    split,
    prefixes,
    first: count(first),
    early: count(early),
    late: count(late),
  }));
}

const SHARES: Record<Exclude<ArmName, "mapper">, number> = {
  identity: 1,
  self_map: 1,
  zero_cache: 0.2,
  other_sequence: 0.4,
  no_rerotation: 0.5,
  shuffled_heads: 0.3,
  pilot_alone: 0.7,
  plain_ridge: 0.85,
};

/** What the mapper recovered and lost, as its agreement and the pilot's have it; said where a row does not. */
function withRescue(row: SequenceCounts): SequenceCounts {
  const agreed = (share = 1) =>
    [row.first, row.early, row.late].reduce(
      (sum, { agree, total }) => sum + (share === 1 ? agree : Math.round(total * share)),
      0,
    );
  const net = agreed() - agreed(SHARES.pilot_alone);
  return { recovered: Math.max(net, 0), lost: Math.max(-net, 0), ...row };
}

/** A whole run around these rows of the mapper, with a report like the gate where there is none. */
export function input(rows: SequenceCounts[], changes: Partial<AssessmentInput> = {}): AssessmentInput {
  const gate = rows.filter((row) => row.split === "gate");
  const others = Object.entries(SHARES).map(([arm, share]) => [arm, like(gate, share)]);
  const mapper = rows.map((row) => (row.split === "gate" ? withRescue(row) : row));
  if (!rows.some((row) => row.split === "report")) {
    const report = gate.slice(0, 16).map((row) => ({ ...row, id: `r${row.id}`, split: "report" as const }));
    mapper.push(...report);
  }
  const counts = { mapper, ...Object.fromEntries(others) };
  return {
    counts,
    gate: 0.9,
    gateOn: "lower",
    control: false,
    method: "renorm",
    dtype: "float32",
    ...changes,
  };
}
