import { expect, it } from "vitest";
import { CalibrationOptions, LONGEST_SEQ_LEN } from "./calibration-options";

it("takes no sequence length that no model can hold", () => {
  const taken = (seq_len: number) => CalibrationOptions.safeParse({ seq_len }).success;
  expect([1024, LONGEST_SEQ_LEN].map(taken)).toEqual([true, true]);
  expect([0, 1.5, LONGEST_SEQ_LEN + 1, Number.MAX_SAFE_INTEGER].map(taken)).toEqual(Array(4).fill(false));
});
