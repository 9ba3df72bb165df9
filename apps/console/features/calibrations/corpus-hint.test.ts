import { expect, test } from "vitest";
import { corpusHint } from "./corpus-hint";

const timesNamed = (text: string) => text.split("fineweb-edu").length - 1;

test("names every corpus once, also where a worker lists the hub's", () => {
  const hint = corpusHint("bundled", ["bundled", "notes.jsonl", "fineweb-edu"]);
  expect(hint).toContain("The workers have bundled, notes.jsonl. Also fineweb-edu (");
  expect(timesNamed(hint)).toBe(1);
});

test("offers nothing of the hub where no worker may fetch from it", () => {
  expect(timesNamed(corpusHint("bundled", ["bundled"]))).toBe(0);
});

test("says that a data set of the hub is downloaded first, and what merely begins like one is not", () => {
  expect(corpusHint("fineweb-edu@v1", ["bundled"])).toMatch(/^Downloads about 2 GB/);
  expect(corpusHint("hub:owner/name", ["bundled"])).toMatch(/downloaded from the hub first/);
  expect(corpusHint("fineweb-edu-notes.txt", ["bundled"])).toMatch(/^The workers have/);
});
