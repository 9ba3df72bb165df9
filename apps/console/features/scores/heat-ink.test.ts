import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { contrastOn, HEAT_ENDS } from "./heat-ink";

it("knows the ends of the scale as the tokens have them", () => {
  const tokens = readFileSync(fileURLToPath(new URL("../../ui/tokens.css", import.meta.url)), "utf8");
  for (const name of ["accent", "card"] as const)
    expect(tokens).toContain(`--${name}: light-dark(${HEAT_ENDS.light[name]}, ${HEAT_ENDS.dark[name]});`);
});

it.each(["light", "dark"] as const)("writes every value so that it can be read (%s)", (theme) => {
  for (let heat = 0; heat <= 1; heat += 0.01) {
    const best = Math.max(contrastOn(theme, heat, 0), contrastOn(theme, heat, 1));
    expect(best, `heat ${heat.toFixed(2)}`).toBeGreaterThanOrEqual(4.5);
  }
});

it("has the contrast that is known of black on white", () => {
  // 8 % of the accent on a white card is nearly white.
  expect(contrastOn("light", 0, 0)).toBeGreaterThan(17);
  expect(contrastOn("light", 0, 1)).toBeLessThan(1.25);
});
