import type { Drift } from "@helm/contracts";

/** What the drift verb records for mappers of the tests' models. */
export function driftOf(mapper: string, reverse: string, changes: Partial<Drift> = {}): Drift {
  const turns = Array.from({ length: 4 }, (_, at) => ({
    turn: at + 1,
    direction: at % 2 ? ("down" as const) : ("up" as const),
    retention: 0.97 - 0.01 * at,
    n: 16,
  }));
  return {
    v: 1,
    type: "drift",
    at: "2026-11-30T10:00:00.000Z",
    pair: { source: "pilot", target: "target" },
    mapper_sha256: mapper,
    reverse_mapper_sha256: reverse,
    carries: { new: turns },
    device: "cpu",
    development: true,
    ...changes,
  };
}
