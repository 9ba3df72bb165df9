import { expect, it } from "vitest";
import { LeaseWatch } from "./lease-watch";

const START = Date.UTC(2026, 10, 30);

/** A watch on two clocks that a test moves by hand: the process's steady one and the database's. */
function watch() {
  let steady = 0;
  let database = START;
  const watched = new LeaseWatch(30_000, () => steady);
  watched.look(new Date(database));
  return (steadyMs: number, databaseMs: number) => {
    steady += steadyMs;
    database += databaseMs;
    watched.look(new Date(database));
    const judges = !watched.mustRenew();
    if (!judges) watched.renewed();
    return judges;
  };
}

it("judges while both clocks go alike, with the unevenness of a busy machine", () => {
  const after = watch();
  expect([after(5_000, 5_000), after(5_000, 5_400), after(9_000, 8_000)]).toEqual([true, true, true]);
});

it.each([
  ["the database's clock went ahead by hours", 5_000, 3 * 3_600_000],
  ["the database's clock went back by hours", 5_000, -3 * 3_600_000],
  ["nobody looked for longer than half a lease", 16_000, 16_000],
])("judges nothing where %s, and judges again at the next look", (_, steadyMs, databaseMs) => {
  const after = watch();
  expect(after(steadyMs, databaseMs)).toBe(false);
  expect(after(5_000, 5_000)).toBe(true);
});

it("goes on asking for it while renewing fails", () => {
  let steady = 0;
  const watched = new LeaseWatch(30_000, () => steady);
  watched.look(new Date(START));
  steady = 60_000;
  watched.look(new Date(START + steady));
  expect(watched.mustRenew()).toBe(true);
  steady += 5_000;
  watched.look(new Date(START + steady));
  expect(watched.mustRenew()).toBe(true);
  watched.renewed();
  expect(watched.mustRenew()).toBe(false);
});
