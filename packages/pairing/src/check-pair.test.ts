import { ModelFacts } from "@helm/contracts";
import { describe, expect, it } from "vitest";
import cases from "./cases/pairs.json";
import { checkPair, judgeModel } from "./check-pair";

const models = cases.models as Record<string, object>;

function published(id: string): ModelFacts {
  return ModelFacts.parse({ id, ...models[id] });
}

function causesOf(source: object, target: object = source): string[] {
  const facts = (model: object) => ModelFacts.parse({ id: "some/model", tokenizer: "t", ...model });
  return checkPair(facts(source), facts(target), { requireTokenizer: true }).causes.map(
    (found) => found.cause,
  );
}

describe("the published pairs", () => {
  it.each(cases.pairs)("$source -> $target is $verdict", ({ source, target, verdict, reason }) => {
    const result = checkPair(published(source), published(target), { requireTokenizer: true });
    expect(result.ok).toBe(verdict === "ok");
    if (verdict === "refused") expect(result.causes.map((found) => found.cause)).toContain(reason);
    else expect(result.control).toBe(reason !== null);
  });
});

describe("all causes at once", () => {
  it("names each cause that holds, not the first", () => {
    const result = checkPair(published("google/gemma-3-1b-it"), published("Qwen/Qwen3-14B"), {
      requireTokenizer: true,
    });
    expect(new Set(result.causes.map((found) => found.cause))).toEqual(
      new Set(["family", "tokenizer", "kv_heads", "head_dim", "not_full_attention"]),
    );
  });

  it("names a fault of a control once", () => {
    const gemma = published("google/gemma-3-1b-it");
    expect(checkPair(gemma, gemma, { requireTokenizer: true }).causes).toHaveLength(1);
  });
});

const base = {
  model_type: "llama",
  num_hidden_layers: 16,
  hidden_size: 2048,
  num_attention_heads: 16,
  num_key_value_heads: 8,
  vocab_size: 32000,
  max_position_embeddings: 32768,
  rope_theta: 10000,
};

describe("attention", () => {
  const refused: [string, object][] = [
    [
      "qwen2 with its window on",
      { model_type: "qwen2", use_sliding_window: true, sliding_window: 4096, max_window_layers: 8 },
    ],
    ["mistral with a window", { model_type: "mistral", sliding_window: 4096 }],
    ["phi3 with a window", { model_type: "phi3", sliding_window: 2047 }],
    ["layer types that mix", { model_type: "qwen3", layer_types: ["full_attention", "sliding_attention"] }],
    ["gpt-oss", { model_type: "gpt_oss" }],
    ["qwen3-next", { model_type: "qwen3_next", full_attention_interval: 4, linear_num_key_heads: 16 }],
    ["jamba", { model_type: "jamba", attn_layer_period: 8, mamba_d_state: 16 }],
    [
      "granite hybrid",
      {
        model_type: "granitemoehybrid",
        layer_types: ["mamba", "attention"],
        position_embedding_type: "rope",
      },
    ],
    ["lfm2", { model_type: "lfm2", full_attn_idxs: [2, 5] }],
    [
      "llama4 chunks",
      { model_type: "llama4_text", attention_chunk_size: 8192, no_rope_layers: [1, 1, 1, 1] },
    ],
    ["cross-attention to an image", { model_type: "mllama_text_model", cross_attention_layers: [3, 8] }],
    ["sparse attention", { model_type: "llama", index_topk: 2048 }],
    ["minimax", { model_type: "minimax", attn_type_list: [0, 0, 1] }],
  ];
  it.each(refused)("%s is not full", (_name, facts) => {
    expect(causesOf({ ...base, ...facts })).toContain("not_full_attention");
  });

  const full: [string, object][] = [
    ["mistral without a window", { model_type: "mistral", sliding_window: null }],
    ["qwen2 with its window off", { model_type: "qwen2", use_sliding_window: false, sliding_window: 131072 }],
    ["qwen2 that says nothing of its window's use", { model_type: "qwen2", sliding_window: 32768 }],
    [
      "qwen2 whose window starts beyond its last layer",
      { model_type: "qwen2", use_sliding_window: true, sliding_window: 4096, max_window_layers: 16 },
    ],
    ["a window as long as the context", { model_type: "phi3", sliding_window: 32768 }],
    [
      "layer types all full",
      { model_type: "qwen3", layer_types: Array(16).fill("full_attention"), sliding_window: 4096 },
    ],
  ];
  it.each(full)("%s is full", (_name, facts) => {
    expect(causesOf({ ...base, ...facts })).toEqual([]);
  });
});

describe("latent attention", () => {
  it.each([
    ["by its rank", { model_type: "deepseek_v3", kv_lora_rank: 512, qk_rope_head_dim: 64, v_head_dim: 128 }],
    ["by its split heads", { model_type: "llama", qk_nope_head_dim: 128 }],
    ["by its kind", { model_type: "deepseek_v2" }],
  ])("is refused %s", (_name, facts) => {
    expect(causesOf({ ...base, ...facts })).toEqual(["mla"]);
  });
});

describe("rotary embedding", () => {
  it.each([
    ["falcon with ALiBi", { model_type: "falcon", alibi: true }],
    ["MPT", { model_type: "mpt", attn_config: { alibi: true } }],
    ["gpt2", { model_type: "gpt2", rope_theta: null }],
    ["an absolute embedding", { position_embedding_type: "absolute" }],
    ["granite's nope", { model_type: "granitemoehybrid", position_embedding_type: "nope" }],
    ["SmolLM3's NoPE layers", { model_type: "smollm3", no_rope_layers: [1, 1, 1, 0] }],
    ["SmolLM3 by interval", { model_type: "smollm3", no_rope_layer_interval: 4 }],
    ["an unknown architecture that names none", { model_type: "novel", rope_theta: null }],
    ["an unknown kind of scaling", { rope_scaling: { rope_type: "xpos" } }],
  ])("%s has none that can be undone", (_name, facts) => {
    expect(causesOf({ ...base, ...facts })).toContain("no_rope");
  });

  it.each([
    ["YaRN", { rope_scaling: { rope_type: "yarn", factor: 4 } }],
    ["LongRoPE", { rope_scaling: { type: "longrope", short_factor: [1], long_factor: [2] } }],
    ["linear scaling", { rope_scaling: { type: "linear", factor: 2 } }],
    ["partial rotary", { model_type: "phi", partial_rotary_factor: 0.5 }],
    [
      "gpt-neox's spelling",
      { model_type: "gpt_neox", rope_theta: null, rotary_pct: 0.25, rotary_emb_base: 10000 },
    ],
    ["falcon without ALiBi", { model_type: "falcon", alibi: false }],
    ["every layer listed as rotating", { model_type: "smollm3", no_rope_layers: [1, 1, 1, 1] }],
    ["theta left at its default", { rope_theta: null }],
  ])("%s can be undone", (_name, facts) => {
    expect(causesOf({ ...base, ...facts })).toEqual([]);
  });

  it.each([
    ["rope_scaling.type", { rope_scaling: { type: "dynamic", factor: 2 } }],
    ["rope_parameters", { rope_parameters: { rope_type: "dynamic", factor: 2 } }],
    ["rope_parameters by layer kind", { rope_parameters: { full_attention: { rope_type: "dynamic" } } }],
    ["use_dynamic_ntk", { model_type: "llama", use_dynamic_ntk: true }],
  ])("dynamic NTK is refused: %s", (_name, facts) => {
    expect(causesOf({ ...base, ...facts })).toEqual(["dynamic_ntk"]);
  });
});

describe("shapes", () => {
  it("takes hidden size over heads where no head dimension is stated", () => {
    expect(causesOf(base, { ...base, id: "other", head_dim: 64 })).toContain("head_dim");
  });
  it("reads falcon's single KV head", () => {
    const falcon = { ...base, model_type: "falcon", multi_query: true, num_key_value_heads: null };
    expect(
      causesOf(falcon, { ...falcon, id: "other", new_decoder_architecture: true, num_kv_heads: 8 }),
    ).toContain("kv_heads");
  });
  it("refuses KV heads that differ by layer", () => {
    expect(causesOf({ ...base, num_key_value_heads: null, num_kv_heads: [4, 8] })).toEqual(["kv_heads"]);
  });
  it("refuses values of another width than keys", () => {
    expect(causesOf({ ...base, v_head_dim: 64 })).toEqual(["head_dim"]);
  });
  it("reads a multimodal config's language model", () => {
    const text = { ...base, sliding_window: 1024 };
    expect(causesOf({ model_type: "llava", text_config: text })).toEqual(["not_full_attention"]);
  });
});

describe("family", () => {
  const qwen = published("Qwen/Qwen3-14B");
  it("is matched by facts, whatever the id says", () => {
    const renamed = ModelFacts.parse({ ...published("Qwen/Qwen3-32B"), id: "acme/finetune" });
    expect(checkPair(qwen, renamed, { requireTokenizer: true })).toMatchObject({ ok: true, family: "Qwen3" });
  });
  it("is refused to a model in no row, but not to its control", () => {
    expect(causesOf(base)).toEqual([]);
    expect(causesOf(base, { ...base, id: "some/other" })).toEqual(["family"]);
  });
  it("tells Llama 3.1 from 3.2 of the same shape", () => {
    const llama = published("meta-llama/Llama-3.1-8B");
    const small = ModelFacts.parse({ ...published("meta-llama/Llama-3.2-1B"), head_dim: 128 });
    expect(checkPair(small, llama, { requireTokenizer: true }).causes.map((c) => c.cause)).toEqual([
      "family",
    ]);
  });
  it("allows a mixture of experts in its family and says that it is untested", () => {
    const moe = ModelFacts.parse({ ...published("Qwen/Qwen3-30B-A3B"), num_experts: 128 });
    const other = ModelFacts.parse({ ...moe, id: "Qwen/Qwen3-Coder-30B-A3B" });
    const result = checkPair(moe, other, { requireTokenizer: true });
    expect(result.ok).toBe(true);
    expect(result.notes.join()).toContain("untested");
  });
  it("knows Ministral 3 by its scaling", () => {
    const ministral = {
      ...base,
      model_type: "ministral3",
      vocab_size: 131072,
      rope_scaling: { rope_type: "yarn", factor: 16 },
    };
    expect(causesOf(ministral, { ...ministral, id: "other", num_hidden_layers: 34 })).toEqual([]);
  });
});

describe("one model alone", () => {
  it("is of a family, or forbidden by what lies with it", () => {
    expect(judgeModel(published("Qwen/Qwen3-14B"))).toEqual({ family: "Qwen3", causes: [], notes: [] });
    const gemma = judgeModel(published("google/gemma-3-1b-it"));
    expect(gemma.family).toBeNull();
    expect(gemma.causes.map(({ cause }) => cause)).toEqual(["not_full_attention"]);
    const bare = judgeModel(ModelFacts.parse({ ...published("Qwen/Qwen3-14B"), tokenizer: null }));
    expect(bare.notes.join()).toContain("not compared");
  });
});

describe("tokenizer", () => {
  const a = ModelFacts.parse({ ...published("Qwen/Qwen3-14B"), tokenizer: "a" });
  const b = ModelFacts.parse({ ...published("Qwen/Qwen3-32B"), tokenizer: "b" });
  const without = (model: ModelFacts) => ({ ...model, tokenizer: null });
  it("is compared by content", () => {
    expect(checkPair(a, b, { requireTokenizer: false }).causes.map((c) => c.cause)).toEqual(["tokenizer"]);
  });
  it("decides on the rest where neither holds one, and says so", () => {
    const result = checkPair(without(a), without(b), { requireTokenizer: false });
    expect(result.ok).toBe(true);
    expect(result.notes.join()).toContain("not compared");
    const wider = { ...without(b), vocab_size: 152064 };
    const refused = checkPair(without(a), wider, { requireTokenizer: false });
    expect(refused.causes.map((c) => c.cause)).toEqual(["family", "tokenizer"]);
    expect(refused.notes.join()).toContain("not compared");
  });
  it("is missed where registration needs it, or where one alone holds it", () => {
    expect(checkPair(without(a), without(b), { requireTokenizer: true }).ok).toBe(false);
    expect(checkPair(a, without(b), { requireTokenizer: false }).causes).toMatchObject([
      { cause: "tokenizer", model: "target" },
    ]);
  });
});

describe("control", () => {
  const facts = (extra: object) => ModelFacts.parse({ ...published("Qwen/Qwen3-1.7B"), ...extra });
  it("is decided by the weights where both are known", () => {
    const check = (x: object, y: object) => checkPair(facts(x), facts(y), { requireTokenizer: true }).control;
    expect(check({ id: "a", weights_sha256: "1" }, { id: "b", weights_sha256: "1" })).toBe(true);
    expect(check({ weights_sha256: "1" }, { weights_sha256: "2" })).toBe(false);
    expect(check({ num_hidden_layers: 28 }, { num_hidden_layers: 30 })).toBe(false);
  });
});
