import { readFileSync } from "node:fs";
import type { ModelFacts } from "@helm/contracts";
import { expect, it } from "vitest";
import { mapperSize } from "./mapper-size";

const bundled = (name: "pilot" | "target"): ModelFacts => {
  const config = JSON.parse(
    readFileSync(new URL(`../../../models/${name}/config.json`, import.meta.url), "utf8"),
  );
  return { ...config, id: name, k_norm: config.model_type === "qwen3" };
};

/** Weights in a recorded mapper, without its manifest and its constant first tokens. */
function recorded(scenario: string): number {
  const file = readFileSync(new URL(`../../../prisma/seeds/${scenario}/mapper.safetensors`, import.meta.url));
  const length = Number(file.readBigUInt64LE(0));
  const header: Record<string, { data_offsets?: [number, number] }> = JSON.parse(
    file.subarray(8, 8 + length).toString(),
  );
  return Object.entries(header)
    .filter(([name]) => /^\d+\./.test(name))
    .reduce((sum, [, { data_offsets: [from, to] = [0, 0] }]) => sum + to - from, 0);
}

it("is what the recorded mappers of the bundled pair hold, to the byte", () => {
  const [pilot, target] = [bundled("pilot"), bundled("target")];
  const up = mapperSize(pilot, target, { method: "renorm", k: 4, weights: "float32" });
  expect(up?.bytes).toBe(recorded("cleared"));
  const run = JSON.parse(
    readFileSync(new URL("../../../prisma/seeds/below-stricter-gate/run.json", import.meta.url), "utf8"),
  );
  const down = mapperSize(target, pilot, {
    method: run.method ?? "ridge",
    k: run.k ?? 4,
    weights: "float32",
  });
  expect(down?.bytes).toBe(recorded("below-stricter-gate"));
});

it("is the published size of Qwen3-0.6B to 1.7B with k 4, in bf16", () => {
  const shape = { num_key_value_heads: 8, head_dim: 128, num_hidden_layers: 28, k_norm: true };
  const size = mapperSize(
    { id: "a", ...shape },
    { id: "b", ...shape },
    { method: "ridge", k: 4, weights: "bfloat16" },
  );
  expect(Math.round((size?.parameters ?? 0) / 1e6)).toBe(235);
  expect(Math.round((size?.bytes ?? 0) / 1e6)).toBe(470);
});

it("is eight times smaller, but for its biases, where each head reads one of eight", () => {
  const model = { id: "a", num_key_value_heads: 8, head_dim: 128, num_hidden_layers: 28 };
  const dense = mapperSize(model, model, { method: "ridge", k: 4, weights: "bfloat16" });
  const local = mapperSize(model, model, { method: "head-local", k: 4, weights: "bfloat16" });
  const biases = 28 * 2 * 1024;
  expect(((dense?.parameters ?? 0) - biases) / ((local?.parameters ?? 0) - biases)).toBe(8);
});

it("is not told where a fact is missing, and reads no more layers than there are", () => {
  const model = { id: "a", num_key_value_heads: 8, head_dim: 128, num_hidden_layers: 2 };
  expect(mapperSize({ id: "b" }, model, { method: "ridge", k: 4, weights: "bfloat16" })).toBeNull();
  const two = mapperSize(model, model, { method: "ridge", k: 2, weights: "bfloat16" });
  expect(mapperSize(model, model, { method: "ridge", k: 64, weights: "bfloat16" })?.bytes).toBe(two?.bytes);
});
