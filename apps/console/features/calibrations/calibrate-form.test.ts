import { describe, expect, it } from "vitest";
import { CalibrateForm, optionsOf } from "./calibrate-form";

const given = { method: "default", k: 4, corpus: "bundled", column: "", device: "cpu", long: false };

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

  it("leaves an empty column out and refuses one that is no name", () => {
    expect(optionsOf({ long: false, column: "" }, { seed: 3, corpus_column: "old", long: true })).toEqual({
      seed: 3,
    });
    expect(optionsOf({ long: true, column: "body" })).toEqual({ long: true, corpus_column: "body" });
    expect(CalibrateForm.safeParse({ ...given, column: "$(id)" }).success).toBe(false);
  });
});
