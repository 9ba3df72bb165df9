import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createProgram } from "./program";
import { CHECKOUT } from "./testing";

const README = readFileSync(join(CHECKOUT, "README.md"), "utf8");
const helm = createProgram(() => {}).commands.find((command) => command.name() === "helm");

it("README has every noun of the command line with its verbs", () => {
  const said = [...README.matchAll(/^\| `([a-z]+)` \| [^|]+ \| ([a-z, -]+) \|$/gm)].map(
    ([, noun, verbs = ""]) => `${noun}: ${verbs.split(", ").sort().join(", ")}`,
  );
  const nouns = helm?.commands.filter(({ commands }) => commands.length > 0) ?? [];
  expect(nouns.length).toBeGreaterThan(10);
  const there = nouns.map(
    (noun) =>
      `${noun.name()}: ${noun.commands
        .map((verb) => verb.name())
        .sort()
        .join(", ")}`,
  );
  expect(said.sort()).toEqual(there.sort());
});
