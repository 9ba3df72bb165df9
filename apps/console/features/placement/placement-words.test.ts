import { expect, it } from "vitest";
import { onNodeWords, placementWords, refusalWords } from "./placement-words";

const node = (id: string, here: boolean) => ({ id, name: id, here, refusedBecause: null });
const everywhere = { placed: false, developmentOnly: false, refusal: null, nodes: [node("n1", true)] };

it("says where a pair is, and whether it may be used there", () => {
  expect(onNodeWords(everywhere, "n1")).toBe("may be used here; it is placed on every node");
  const placed = { ...everywhere, placed: true, nodes: [node("n1", false), node("n2", true)] };
  expect(placementWords(placed)).toBe("n2");
  expect(onNodeWords(placed, "n1")).toBe("is not placed here; it is placed on n2");
});

it("never says of a refused pair that it may be used", () => {
  const below = { ...everywhere, refusal: "TRANSFER_INELIGIBLE" as const };
  expect(refusalWords(below)).toMatch(/^TRANSFER_INELIGIBLE: .*below the gate/);
  expect(onNodeWords(below, "n1")).toMatch(/^is not used \(TRANSFER_INELIGIBLE: .*placed on every node$/);
  expect(onNodeWords(below, "n1")).not.toMatch(/may be used/);
});
