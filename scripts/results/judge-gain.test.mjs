import { expect, it } from "vitest";
import { bootstrap, curveOf, gainAt, gainOf, oracle, orderBy } from "./judge-gain.mjs";

const request = (id, pilot, target, pilotMs = 1, targetMs = 2) => ({ id, pilot, target, pilotMs, targetMs });
const TASKS = [
  request("a", 1, 1),
  request("b", 0, 1),
  request("c", 1, 1),
  request("d", 0, 1),
  request("e", 1, 0),
  request("f", 0, 0),
];

it("counts a kept request as the pilot's and an escalated one as the target's, at the cost of both", () => {
  const curve = curveOf(TASKS);
  expect(curve[0]).toEqual({ rate: 0, quality: 0.5, ms: 1 });
  expect(curve.at(-1).quality).toBeCloseTo(4 / 6);
  expect(curve.at(-1).ms).toBeCloseTo(3);
  expect(curve[2].quality).toBeCloseTo(4 / 6);
});

it("finds no gain in an order that knows nothing, the most in the oracle's, and a loss in the reverse", () => {
  const chance = { total: 0, n: 0 };
  for (const ids of permutations(["a", "b", "c", "d", "e", "f"])) {
    const ordered = ids.map((id) => TASKS.find((task) => task.id === id));
    chance.total += gainOf(ordered).rate;
    chance.n += 1;
    expect(gainOf(ordered).rate).toBeLessThanOrEqual(gainOf(oracle(TASKS)).rate + 1e-12);
  }
  expect(chance.total / chance.n).toBeCloseTo(0, 12);
  expect(gainOf([...oracle(TASKS)].reverse()).rate).toBeLessThan(0);
});

it("counts by device time what a dear escalation costs", () => {
  const dear = TASKS.map((task) => (task.target > task.pilot ? { ...task, targetMs: 20 } : task));
  const equal = gainAt(oracle(TASKS), 1 / 3);
  const costly = gainAt(oracle(dear), 1 / 3);
  expect(equal.device).toBeCloseTo(equal.rate);
  expect(costly.rate).toBeCloseTo(equal.rate);
  expect(costly.device).toBeLessThan(equal.device);
});

it("draws an interval that holds the value and follows from the seed", () => {
  const many = Array.from({ length: 300 }, (_, i) => ({ ...TASKS[i % 6], id: String(i) }));
  const found = bootstrap(oracle(many), gainOf, { resamples: 200 });
  expect(found.rate.low).toBeLessThan(found.rate.value);
  expect(found.rate.high).toBeGreaterThan(found.rate.value);
  expect(bootstrap(oracle(many), gainOf, { resamples: 200 })).toEqual(found);
});

it("orders by score, and ties by name", () => {
  const ordered = orderBy(TASKS, ({ id }) => (id === "d" ? 2 : 1));
  expect(ordered.map(({ id }) => id).join("")).toBe("dabcef");
});

function permutations(values) {
  if (values.length < 2) return [values];
  return values.flatMap((value, i) =>
    permutations([...values.slice(0, i), ...values.slice(i + 1)]).map((rest) => [value, ...rest]),
  );
}
