import { expect, it } from "vitest";
import { consequence } from "./mapper-words";

const mapper = (state: "ACTIVE" | "INACTIVE", value = 0.98) =>
  ({
    id: "m",
    pairId: "p",
    state,
    developmentOnly: false,
    score: { retention: { value } },
  }) as unknown as Parameters<typeof consequence>[1];
const overview = (changes: object) =>
  ({ enabled: true, killSwitch: false, route: { pairId: "p", name: "helm-auto" }, ...changes }) as Parameters<
    typeof consequence
  >[3];

it("says of an activation what serves then, and what it takes the place of", () => {
  const said = consequence("activate", mapper("INACTIVE"), mapper("ACTIVE", 0.95), overview({}));
  expect(said).toContain("The active one (retention 0.950) becomes INACTIVE");
  expect(said).toContain("helm-auto uses this pair, so its escalations change");
  expect(consequence("activate", mapper("INACTIVE"), null, overview({}))).toContain("becomes ELIGIBLE");
});

it("says when nothing changes yet: another pair's route, Helm off, the kill switch", () => {
  const of = (changes: object) => consequence("activate", mapper("INACTIVE"), null, overview(changes));
  expect(of({ route: { pairId: "q", name: "helm-auto" } })).toContain("no request changes");
  expect(of({ enabled: false })).toContain("Helm is off");
  expect(of({ killSwitch: true })).toContain("the kill switch is on");
});

it("says of the active one's retirement that the target reads the prompt itself, and of another's that nothing changes", () => {
  expect(consequence("retire", mapper("ACTIVE"), mapper("ACTIVE"), overview({}))).toContain(
    "reading the prompt itself",
  );
  expect(consequence("retire", mapper("INACTIVE"), mapper("ACTIVE"), overview({}))).toContain(
    "Nothing that is served changes",
  );
});
