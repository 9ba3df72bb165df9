import { describe, expect, it } from "vitest";
import { readOptions } from "./options";

const given = {
  sourceModel: "pilot",
  targetModel: "target",
  mapper: "m",
  tasks: "helm_bundled",
  device: "cpu",
};

describe("options of evaluate", () => {
  it("are read as given", () => {
    const options = readOptions({
      ...given,
      tasks: "arc_challenge, mmlu_anatomy",
      limit: "20",
      numFewshot: "0",
      record: true,
    });
    expect(options).toMatchObject({
      tasks: ["arc_challenge", "mmlu_anatomy"],
      record: true,
      data: undefined,
    });
    expect(options.passed).toEqual(["--limit", "20", "--num-fewshot", "0"]);
  });

  it.each([
    [{ tasks: "" }, /--tasks/],
    [{ tasks: "a,,../b" }, /--tasks/],
    [{ tasks: "a,a" }, /twice/],
    [{ device: "gpu" }, /--device gpu/],
    [{ limit: "0" }, /--limit 0/],
    [{ limit: "2.5" }, /--limit 2.5/],
    [{ numFewshot: "-1" }, /--num-fewshot -1/],
    [{ mapper: undefined }, /--mapper/],
    [{ sourceModel: "" }, /--source-model/],
  ])("%o is wrong usage, said in one line", (wrong, message) => {
    expect(() => readOptions({ ...given, ...wrong })).toThrow(message);
    expect(() => readOptions({ ...given, ...wrong })).toThrow(expect.objectContaining({ exitCode: 2 }));
  });
});
