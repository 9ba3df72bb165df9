import { expect, it } from "vitest";
import { publishedFor } from "./published";

const model = (id: string, layers: number, hidden: number, heads = 8) => ({
  id,
  num_hidden_layers: layers,
  hidden_size: hidden,
  num_key_value_heads: heads,
});

it("stands beside a pair of the same shapes, whatever it is called, and beside no other", () => {
  const found = publishedFor(model("a", 28, 1024), model("b", 28, 2048));
  expect(found).toMatchObject({ pair: "Qwen3-0.6B to Qwen3-1.7B", retention: 0.77 });
  expect(publishedFor(model("a", 40, 5120), model("b", 64, 5120))?.points).toHaveLength(3);
  expect(publishedFor(model("b", 28, 2048), model("a", 28, 1024))).toBeNull();
  expect(publishedFor(model("a", 28, 1024, 4), model("b", 28, 2048))).toBeNull();
  expect(publishedFor({ id: "unknown" }, { id: "unknown" })).toBeNull();
});
