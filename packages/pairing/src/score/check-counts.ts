import { type ArmName, HelmError, type SequenceCounts } from "@helm/contracts";
import { BUCKETS, type CountsByArm } from "./pool";

export type RefusedBecause =
  | "ARM_MISSING"
  | "SEQUENCE_REPEATED"
  | "SEQUENCES_DIFFER"
  | "SPLITS_OVERLAP"
  | "COUNT_IMPOSSIBLE"
  | "TOO_MANY";

/** Positions that one hand-over point can count: the first, 2 to 16, 17 to 64. */
const MOST_PER_POINT = { first: 1, early: 15, late: 48 } as const;
/** More would hold up what waits for the verdict; a run has 256 gate sequences, and domains by the dozen at most. */
export const MOST_SEQUENCES = 10_000;
export const MOST_DOMAINS = 32;
/** Hand-over points of a sequence that is not a long one. */
const MOST_POINTS = 4;

/** The plain ridge is its own arm, except where it is what was fitted. */
export const PLAIN_RIDGE = "ridge";

/** Arms without which there is no verdict. A control is compared with no pilot, and its mapper is the self-map. */
export function requiredArms({ control, method }: { control: boolean; method: string }): ArmName[] {
  const always: ArmName[] = ["mapper", "identity", "zero_cache", "other_sequence"];
  always.push("no_rerotation", "shuffled_heads");
  if (!control) always.push("self_map", "pilot_alone");
  if (method !== PLAIN_RIDGE) always.push("plain_ridge");
  return always;
}

/**
 * Counts that allow a verdict: every arm, on the same sequences and positions, each once, and a report with none of the
 * gate's. Errors: COUNTS_REFUSED with `reason` in its details.
 */
export function checkCounts(counts: CountsByArm, run: { control: boolean; method: string }): void {
  const arms = Object.entries(counts).map(([arm, rows]) => [arm, rows ?? []] as const);
  for (const [arm, rows] of arms) {
    if (rows.length > MOST_SEQUENCES) {
      const what = `the arm ${arm} has ${rows.length} sequences, and at most ${MOST_SEQUENCES} are judged`;
      throw refused("TOO_MANY", what, { arm });
    }
  }
  // The calibrator pools the domains of a corpus that has more than these.
  const domains = new Set((counts.mapper ?? []).map((row) => row.domain)).size;
  if (domains > MOST_DOMAINS)
    throw refused("TOO_MANY", `the mapper has ${domains} domains, and at most ${MOST_DOMAINS} are judged`, {
      arm: "mapper",
    });
  for (const [arm, rows] of arms) {
    for (const row of rows) checkRow(arm, row);
    checkOnce(arm, rows);
  }
  const gate = new Map(inSplit(counts.mapper, "gate").map((row) => [row.id, row]));
  for (const arm of requiredArms(run)) {
    if (inSplit(counts[arm], "gate").length === 0)
      throw refused("ARM_MISSING", `the arm ${arm} has no counts on the gate split`, { arm });
  }
  // GATE_OVERFITTED compares with the report: a run that left it out could never be told from a good one.
  if (inSplit(counts.mapper, "report").length === 0)
    throw refused("ARM_MISSING", "the arm mapper has no counts on the report split", { arm: "mapper" });
  for (const [arm, rows] of arms) checkSame(arm, inSplit(rows, "gate"), gate);
  for (const split of ["gate", "report"] as const)
    checkRescue(inSplit(counts.mapper, split), inSplit(counts.pilot_alone, split));
  checkDisjoint([...gate.values()], inSplit(counts.mapper, "report"));
}

/**
 * What the transfer recovered less what it lost is the mapper's agreement less the pilot's, sequence by sequence: it
 * decides whether a pair is routed, so it is never taken on the run's word, nor of chosen sequences alone.
 */
function checkRescue(mapper: SequenceCounts[], pilot: SequenceCounts[]): void {
  const alone = new Map(pilot.map((row) => [row.id, row]));
  const told = mapper.filter((row) => row.recovered != null && row.lost != null);
  const silent = mapper.find((row) => row.recovered == null || row.lost == null);
  const impossible = (row: SequenceCounts, what: string) =>
    refused("COUNT_IMPOSSIBLE", `sequence ${row.id} of the arm mapper ${what}`, {
      arm: "mapper",
      sequence: row.id,
    });
  if (silent && told.length > 0) throw impossible(silent, "does not say what was recovered and lost");
  for (const row of told) {
    const own = alone.get(row.id);
    const { recovered, lost } = row;
    if (!own || recovered == null || lost == null) continue;
    if (recovered - lost !== agreed(row) - agreed(own) || lost > agreed(own))
      throw impossible(row, `recovered ${recovered} and lost ${lost}, which its agreement does not bear out`);
  }
}

function agreed(row: SequenceCounts): number {
  return BUCKETS.reduce((sum, bucket) => sum + row[bucket].agree, 0);
}

/** By name, and by what the sequences hold where the run said it. */
function checkDisjoint(gate: SequenceCounts[], report: SequenceCounts[]): void {
  const names = new Set(gate.map((row) => row.id));
  const texts = new Map<string, string>();
  for (const { id, digest } of gate) {
    const twin = digest ? texts.get(digest) : undefined;
    if (twin)
      throw refused("SEQUENCE_REPEATED", `the sequences ${twin} and ${id} are one text`, { sequence: id });
    if (digest) texts.set(digest, id);
  }
  for (const { id, digest } of report) {
    const twin = names.has(id) ? id : digest ? texts.get(digest) : undefined;
    if (!twin) continue;
    const what =
      twin === id
        ? `sequence ${id} is in the gate and in the report split`
        : `the gate's sequence ${twin} is the report's ${id}`;
    throw refused("SPLITS_OVERLAP", what, { sequence: id });
  }
}

export function inSplit(
  rows: SequenceCounts[] | undefined,
  split: SequenceCounts["split"],
): SequenceCounts[] {
  return (rows ?? []).filter((row) => row.split === split);
}

function checkOnce(arm: string, rows: SequenceCounts[]): void {
  const seen = new Set<string>();
  for (const row of rows) {
    const key = `${row.split} ${row.multiple ?? 1} ${row.id}`;
    if (seen.has(key))
      throw refused("SEQUENCE_REPEATED", `the arm ${arm} counts sequence ${row.id} twice`, {
        arm,
        sequence: row.id,
      });
    seen.add(key);
  }
}

/** An arm without gate rows was not measured there; one with some must have all, at the same positions. */
function checkSame(arm: string, rows: SequenceCounts[], gate: Map<string, SequenceCounts>): void {
  if (rows.length === 0) return;
  const stray = rows.find((row) => !gate.has(row.id));
  if (stray || rows.length !== gate.size) {
    const what = stray
      ? `sequence ${stray.id} of the arm ${arm} is not among the mapper's`
      : `the arm ${arm} has ${rows.length} sequences and the mapper ${gate.size}`;
    throw refused("SEQUENCES_DIFFER", what, { arm });
  }
  for (const row of rows) {
    const own = gate.get(row.id);
    if (own && BUCKETS.some((bucket) => own[bucket].total !== row[bucket].total))
      throw refused("SEQUENCES_DIFFER", `the arm ${arm} counts other positions of sequence ${row.id}`, {
        arm,
        sequence: row.id,
      });
  }
}

function checkRow(arm: string, row: SequenceCounts): void {
  const impossible = (what: string) =>
    refused("COUNT_IMPOSSIBLE", `sequence ${row.id} of the arm ${arm} ${what}`, { arm, sequence: row.id });
  const points = row.prefixes.length;
  if (points === 0 || (row.split !== "long" && points > MOST_POINTS))
    throw impossible(`has ${points} hand-over points`);
  if ((row.points?.length ?? 0) > points) throw impossible("has more points than prefixes");
  for (const part of [row, ...(row.points ?? [])]) {
    for (const bucket of BUCKETS) {
      const { agree, total } = part[bucket];
      if (!isCount(agree) || !isCount(total)) throw impossible(`counts ${agree} of ${total}`);
      if (agree > total) throw impossible(`counts ${agree} agreements of ${total}`);
      // Without this one text could count as many positions as it liked and stand for a whole corpus.
      const most = MOST_PER_POINT[bucket] * (part === row ? points : 1);
      if (total > most) throw impossible(`counts ${total} positions where at most ${most} can be`);
    }
  }
  const lengths = [...row.prefixes, ...(row.points ?? []).map((point) => point.prefix)];
  if (!lengths.every((length) => isCount(length) && length > 0)) throw impossible("has an impossible prefix");
  const positions = BUCKETS.reduce((sum, bucket) => sum + row[bucket].total, 0);
  for (const count of [row.recovered, row.lost])
    if (count != null && !(isCount(count) && count <= positions))
      throw impossible(`counts ${count} positions recovered or lost`);
  for (const sum of [row.kl_sum, row.gold_gain, row.native_gold_gain])
    if (sum != null && !Number.isFinite(sum)) throw impossible("has a sum that is no number");
  if ((row.kl_sum ?? 0) < 0) throw impossible("has a negative divergence");
  if ((row.split === "long") !== (row.multiple != null))
    throw impossible(row.multiple == null ? "is long and does not say how long" : "is no long one");
  if (row.points && !BUCKETS.every((bucket) => addsUp(row, bucket)))
    throw impossible("has points that do not add up to it");
}

function addsUp(row: SequenceCounts, bucket: (typeof BUCKETS)[number]): boolean {
  const points = row.points ?? [];
  const sum = (part: "agree" | "total") => points.reduce((all, point) => all + point[bucket][part], 0);
  return sum("agree") === row[bucket].agree && sum("total") === row[bucket].total;
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0;
}

export function refused(reason: RefusedBecause, what: string, details: Record<string, unknown>): HelmError {
  const sentence = `The counts of this run cannot be judged: ${what}. Nothing is concluded from it; calibrate again.`;
  return new HelmError("COUNTS_REFUSED", sentence, { reason, ...details });
}
