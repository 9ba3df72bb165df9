import { HelmError, type MapperState } from "@helm/contracts";

export type MapperMove = "activate" | "retire";

const TRANSITIONS: Record<MapperState, Partial<Record<MapperMove, MapperState>>> = {
  INACTIVE: { activate: "ACTIVE", retire: "RETIRED" },
  ACTIVE: { retire: "RETIRED" },
  RETIRED: {},
};

export function nextMapperState(state: MapperState, move: MapperMove): MapperState {
  const next = TRANSITIONS[state][move];
  if (next) return next;
  throw new HelmError("ILLEGAL_TRANSITION", `A mapper that is ${state} cannot be ${move}d.`, { state, move });
}
