import { FallbackReason } from "@helm/contracts";
import { expect, it } from "vitest";
import { readinessWords } from "./reason-words";

it("has words for every reason that a node may refuse a pair with", () => {
  for (const code of FallbackReason.options) {
    expect(readinessWords({ pair_id: "p", state: "REFUSED", code })).not.toMatch(/no reason|_/);
  }
  expect(readinessWords({ pair_id: "p", state: "REFUSED", code: "OF_ANOTHER_VERSION" })).toMatch(/no reason/);
  expect(readinessWords({ pair_id: "p", state: "READY", min_tokens: 1024 })).toMatch(
    /measured on this node .* from 1,024 /,
  );
});

it("fetches nothing while the node's engine is stopped", () => {
  const pair = { pair_id: "p", state: "FETCHING" as const };
  expect(readinessWords(pair)).toMatch(/being fetched/);
  expect(readinessWords(pair, false)).toMatch(/as soon as the node's engine serves/);
});
