/** Lower end of the colour scale: the lowest cosine on the map, down to the next tenth, so that differences show. */
export function heatFloor(rows: readonly (readonly number[])[]): number {
  const lowest = Math.min(1, ...rows.flat());
  return Math.max(-1, Math.min(0.9, Math.floor(lowest * 10 + 1e-9) / 10));
}

/** 0 to 1 between the floor and a cosine of 1. */
export function heatOf(value: number, floor: number): number {
  return Math.min(1, Math.max(0, (value - floor) / (1 - floor)));
}
