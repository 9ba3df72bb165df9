import { expect, it } from "vitest";
import { fieldWords } from "./field-words";

it.each([
  ["state", "state"],
  ["judge.meanLogprob", "judge: mean log-probability"],
  ["causes 2.cause", "causes 2: cause"],
  ["sourceModel", "source model"],
  ["error_code", "error code"],
  ["sha256", "sha256"],
])("%s is written %s", (path, words) => {
  expect(fieldWords(path)).toBe(words);
});
