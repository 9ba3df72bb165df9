import { optionFlags } from "@helm/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readOptions } from "./options";

const given = { sourceModel: "pilot", targetModel: "target", corpus: "bundled", k: "4", device: "cpu" };

describe("options of calibrate", () => {
  it("are read as given", () => {
    const options = readOptions({
      ...given,
      gate: "0.95",
      seqLen: "256",
      sequences: "64",
      wait: false,
      local: true,
    });
    expect(options).toMatchObject({ k: 4, gate: 0.95, wait: false, local: true });
    expect(optionFlags(options.options)).toEqual(["--sequences", "64", "--seq-len", "256"]);
    expect(options.method).toBe("default");
    expect([options.room, options.acceptNoServing]).toEqual(["beside", false]);
    const drain = readOptions({ ...given, drain: true, acceptNoServing: true });
    expect([drain.room, drain.acceptNoServing]).toEqual(["drain", true]);
    const long = readOptions({ ...given, long: true, method: "ridge", seed: "0" });
    expect(optionFlags(long.options)).toEqual(["--seed", "0", "--long"]);
    expect(long.method).toBe("ridge");
    const column = readOptions({ ...given, corpusColumn: "body" });
    expect(optionFlags(column.options)).toEqual(["--corpus-column=body"]);
  });

  it.each([
    [{ acceptNoServing: true }, /goes with --drain/],
    [{ gate: "0" }, /outside \(0, 1\]/],
    [{ gate: "1.01" }, /outside \(0, 1\]/],
    [{ gate: "-0.5" }, /outside \(0, 1\]/],
    [{ gate: "high" }, /outside \(0, 1\]/],
    [{ gate: "" }, /outside \(0, 1\]/],
    [{ k: "0" }, /--k 0/],
    [{ k: "2.5" }, /--k 2.5/],
    [{ k: "many" }, /--k many/],
    [{ device: "gpu" }, /--device gpu/],
    [{ method: "../x" }, /--method/],
    [{ method: "best" }, /--method best is not one of default, ridge, /],
    [{ method: "" }, /--method {2}is not one of/],
    [{ threads: "0" }, /--threads 0/],
    [{ corpusColumn: "" }, /--corpus-column: /],
    [{ corpusColumn: "-x" }, /--corpus-column: /],
    [{ sequences: "0" }, /--sequences 0/],
    [{ seqLen: "1048577" }, /--seq-len 1048577 is more than 1048576/],
    [{ seqLen: "9007199254740991" }, /--seq-len 9007199254740991/],
    [{ sourceModel: "" }, /--source-model/],
  ])("%o is wrong usage, said in one line", (wrong, message) => {
    expect(() => readOptions({ ...given, ...wrong })).toThrow(message);
    expect(() => readOptions({ ...given, ...wrong })).toThrow(expect.objectContaining({ exitCode: 2 }));
  });

  it("take every gate in (0, 1] and no other", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (gate) => {
        const read = () => readOptions({ ...given, gate: String(gate) }).gate;
        if (gate > 0 && gate <= 1) expect(read()).toBe(gate);
        else expect(read).toThrow();
      }),
    );
  });
});
