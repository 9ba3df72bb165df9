import type { Outputs } from "../../api/trpc";
import { type Pair, shownScore } from "./pair-words";

export type Storage = Outputs["pair"]["storage"];
export type Direction = Storage["directions"][number];
export type Score = NonNullable<ReturnType<typeof shownScore>>;

/** One cell of source x target: the direction, and the pair it is where it is one. */
export type Square = {
  source: string;
  target: string;
  kind: "self" | "impossible" | "unregistered" | "unmeasured" | "measured";
  direction: Direction | null;
  pair: Pair | null;
  retention: number | null;
  cleared: boolean;
};

export type FamilyBlock = { family: string; models: string[] };

/** Models in the order of their families, so that what can be paired lies together. */
export function familyBlocks(models: Storage["models"]): FamilyBlock[] {
  const names = [...new Set(models.map(({ family }) => family ?? ""))].sort((a, b) =>
    a === "" ? 1 : b === "" ? -1 : a.localeCompare(b),
  );
  return names.map((name) => ({
    family: name || "no family",
    models: models.filter(({ family }) => (family ?? "") === name).map(({ id }) => id),
  }));
}

export function squaresOf(storage: Storage, pairs: readonly Pair[]): Square[][] {
  const order = familyBlocks(storage.models).flatMap(({ models }) => models);
  return order.map((source) => order.map((target) => squareOf(storage, pairs, source, target)));
}

function squareOf(storage: Storage, pairs: readonly Pair[], source: string, target: string): Square {
  const pair = pairs.find((one) => one.source.id === source && one.target.id === target) ?? null;
  const direction = storage.directions.find((one) => one.source === source && one.target === target) ?? null;
  const score = pair ? shownScore(pair) : null;
  const kind = score
    ? "measured"
    : pair
      ? "unmeasured"
      : source === target
        ? "self"
        : direction && direction.causes.length > 0
          ? "impossible"
          : "unregistered";
  return {
    source,
    target,
    kind,
    direction,
    pair,
    retention: score?.retention.value ?? null,
    cleared: score?.verdict === "CLEARED",
  };
}
