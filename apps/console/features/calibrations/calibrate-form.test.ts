import { describe, expect, it } from "vitest";
import { askedOf, CalibrateForm, optionsOf } from "./calibrate-form";

const given = {
  method: "default",
  k: 4,
  corpus: "bundled",
  device: "cpu",
  room: "beside",
  acceptNoServing: false,
  ...askedOf(),
};

describe("the calibrate dialog", () => {
  it.each(["bundled", " bundled ", "own/traffic.parquet", "fineweb-edu", "hub:owner/name/config@main"])(
    "takes the corpus %j",
    (corpus) => {
      expect(CalibrateForm.parse({ ...given, corpus }).corpus).toBe(corpus.trim());
    },
  );

  it.each(["", "../secret", "/etc/passwd", "hub:owner", "https://hub.example/a/b"])(
    "says what is wrong with the corpus %j",
    (corpus) => {
      const issue = CalibrateForm.safeParse({ ...given, corpus }).error?.issues[0];
      expect(issue?.path).toEqual(["corpus"]);
      expect(issue?.message).toMatch(/^A corpus/);
    },
  );

  it("asks again for all that an earlier run asked for, and leaves out what is left empty", () => {
    const earlier = { long: true, sequences: 64, seq_len: 256, seed: 3, corpus_column: "body" };
    expect(optionsOf(askedOf(earlier))).toEqual(earlier);
    expect(optionsOf(askedOf())).toEqual({});
    expect(optionsOf({ ...askedOf(earlier), column: "", long: false, sequences: "" })).toEqual({
      seq_len: 256,
      seed: 3,
    });
  });

  it.each([
    ["column", "$(id)"],
    ["sequences", "0"],
    ["sequences", "many"],
    ["seqLen", "99999999999"],
    ["seed", "-1"],
  ])("refuses %s %j", (field, value) => {
    expect(CalibrateForm.safeParse({ ...given, [field]: value }).error?.issues[0]?.path).toEqual([field]);
  });
});
