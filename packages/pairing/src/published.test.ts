import { readFileSync } from "node:fs";
import { ModelFacts } from "@helm/contracts";
import { describe, expect, it } from "vitest";
import { checkPair } from "./check-pair";

interface Row {
  name: string;
  causes: string[];
  facts: object;
}

/** Facts as packages/kv reads them from configs.jsonl, written after published models; its tests keep the two equal. */
const rows: Row[] = readFileSync(new URL("./cases/facts.jsonl", import.meta.url), "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line));
const order = [
  "family",
  "tokenizer",
  "kv_heads",
  "head_dim",
  "not_full_attention",
  "mla",
  "no_rope",
  "dynamic_ntk",
];

const byName = (name: string, extra: object = {}) => {
  const row = rows.find((found) => found.name.startsWith(name));
  if (!row) throw new Error(`no case ${name}`);
  return ModelFacts.parse({ ...row.facts, id: row.name, tokenizer: "t", ...extra });
};

describe("published configs, each as a pair with itself", () => {
  it.each(rows)("$name: $causes", ({ facts, causes }) => {
    const model = ModelFacts.parse(facts);
    const check = checkPair(model, model, { requireTokenizer: false });
    const found = [...new Set(check.causes.map(({ cause }) => cause))];
    expect(found.sort((a, b) => order.indexOf(a) - order.indexOf(b))).toEqual(causes);
    expect(check.ok).toBe(causes.length === 0);
    for (const { sentence } of check.causes) expect(sentence).toMatch(/^[^\n]{20,400}$/);
  });
});

describe("published configs as pairs", () => {
  const check = (source: ModelFacts, target: ModelFacts) =>
    checkPair(source, target, { requireTokenizer: true });

  it("allows a mixture of experts within its family, untested", () => {
    const moe = byName("Qwen/Qwen3-235B-A22B", { num_experts: 128 });
    const other = byName("Qwen/Qwen3-235B-A22B", { id: "Qwen/Qwen3-30B-A3B", num_hidden_layers: 48 });
    const result = check(other, moe);
    expect(result).toMatchObject({ ok: true, family: "Qwen3" });
    expect(result.notes.join()).toContain("untested");
  });

  it("allows quantised weights and names them", () => {
    for (const [name, method] of [
      ["Qwen/Qwen3-8B-FP8", "fp8"],
      ["Qwen/Qwen3-8B-AWQ", "awq"],
    ] as const) {
      const result = check(byName(name), byName("Qwen/Qwen3-8B"));
      expect(result.ok).toBe(true);
      expect(result.notes.join()).toContain(`quantised (${method})`);
    }
  });

  it("reads a multimodal Ministral 3 as the family it is of", () => {
    const small = byName("mistralai/Ministral-3-3B");
    const large = { ...small, id: "mistralai/Ministral-3-8B", hidden_size: 4096, num_hidden_layers: 34 };
    expect(check(small, large)).toMatchObject({ ok: true, family: "Ministral 3" });
  });

  it("allows no model of a family to one of no family, whatever else is equal", () => {
    const found = check(byName("Qwen/Qwen3-8B"), byName("an architecture that nobody"));
    expect(found.causes.map(({ cause }) => cause)).toContain("family");
    expect(found.causes.map(({ sentence }) => sentence).join()).toContain('kind "hypernova"');
  });

  it("refuses one tokenizer over two sizes of vocabulary", () => {
    const wide = byName("Qwen/Qwen2.5-7B", { id: "wide" });
    const narrow = byName("Qwen/Qwen2.5-7B", { vocab_size: 151936 });
    expect(check(narrow, wide).causes.map(({ cause }) => cause)).toEqual(["tokenizer"]);
  });
});
