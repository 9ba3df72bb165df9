import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { optionFlags } from "./calibration-options";
import { CorpusColumn, CorpusName, HUB_ALIASES, isHubCorpus } from "./corpus-name";

describe("names of corpora", () => {
  it.each([
    ["bundled", false],
    ["own/traffic.jsonl.gz", false],
    ["a.parquet", false],
    ["fineweb-edu", true],
    ["fineweb-edu@v1.2", true],
    ["hub:owner/name", true],
    ["hub:owner/name/sample-10BT@0123456789abcdef0123456789abcdef01234567", true],
    ["hub:owner/name@refs/convert/parquet", true],
  ])("takes %s", (name, hub) => {
    expect(CorpusName.safeParse(name).success).toBe(true);
    expect(isHubCorpus(name)).toBe(hub);
  });

  it.each([
    "",
    " bundled",
    "/etc/passwd",
    "../secret",
    "a/../b",
    "hub:",
    "hub:owner",
    "hub:owner/name/config/more",
    "hub:owner/..@x",
    "hub:owner/name@",
    "https://huggingface.co/datasets/a/b",
    "bundled@main",
    "-x",
    "a\nb",
  ])("refuses %j", (name) => {
    expect(CorpusName.safeParse(name).success).toBe(false);
    expect(isHubCorpus(name)).toBe(false);
  });

  it("knows the aliases that the job knows", () => {
    const source = join(__dirname, "../../kv/src/lifeboat_kv/corpora/name.py");
    const aliases = /_ALIASES = \{([^}]*)\}/.exec(readFileSync(source, "utf8"))?.[1] ?? "";
    expect([...aliases.matchAll(/"([^"]+)": "hub:/g)].map((match) => match[1])).toEqual([...HUB_ALIASES]);
  });

  it("gives a column as one word that means nothing to a shell", () => {
    expect(optionFlags({ corpus_column: "über_text" })).toEqual(["--corpus-column=über_text"]);
    for (const wrong of ["", "-rf", "a b", "$(id)", "a;b", "a\nb", "x".repeat(81)]) {
      expect(CorpusColumn.safeParse(wrong).success, wrong).toBe(false);
    }
  });
});
