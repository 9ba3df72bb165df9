import { expect, it } from "vitest";
import type { Chunk, ChunkChoice } from "../engine/chunk";
import { AnswerAssembler } from "./assemble-answer";

const chunk = (choices: ChunkChoice[], over: Partial<Chunk> = {}): Chunk => ({
  id: "c1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices,
  ...over,
});

function assemble(chunks: Chunk[]) {
  const assembler = new AnswerAssembler();
  for (const one of chunks) assembler.add(one);
  return assembler.body();
}

it("adds up text, log-probabilities and token ids of several answers, in order of their index", () => {
  const body = assemble([
    chunk([{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }]),
    chunk([{ index: 1, delta: { content: "B" }, logprobs: { content: [{ logprob: -2 }] }, token_ids: [9] }]),
    chunk([{ index: 0, delta: { content: "A" }, logprobs: { content: [{ logprob: -1 }] }, token_ids: [7] }]),
    chunk([{ index: 0, delta: { content: "a" }, logprobs: { content: [{ logprob: -3 }] }, token_ids: [8] }]),
    chunk([{ index: 0, delta: {}, finish_reason: "stop", stop_reason: null }]),
    chunk([{ index: 1, delta: {}, finish_reason: "length" }]),
    chunk([], { usage: { total_tokens: 5 } }),
  ]);
  expect(body).toMatchObject({
    object: "chat.completion",
    usage: { total_tokens: 5 },
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: "Aa", refusal: null },
        logprobs: { content: [{ logprob: -1 }, { logprob: -3 }] },
        token_ids: [7, 8],
        finish_reason: "stop",
      },
      { index: 1, message: { role: "assistant", content: "B" }, finish_reason: "length" },
    ],
  });
});

it("puts tool calls together by their index, growing arguments only", () => {
  const call = (part: object) => chunk([{ index: 0, delta: { tool_calls: [part] } }]);
  const body = assemble([
    call({ index: 0, id: "t1", type: "function", function: { name: "look", arguments: '{"a"' } }),
    call({ index: 0, function: { arguments: ": 1}" } }),
    call({ index: 1, id: "t2", type: "function", function: { name: "go", arguments: "{}" } }),
  ]) as { choices: { message: object }[] };
  expect(body.choices[0]?.message).toEqual({
    role: "assistant",
    refusal: null,
    content: null,
    tool_calls: [
      { id: "t1", type: "function", function: { name: "look", arguments: '{"a": 1}' } },
      { id: "t2", type: "function", function: { name: "go", arguments: "{}" } },
    ],
  });
});

it("adds up completions", () => {
  const part = (text: string, finish: string | null): Chunk =>
    chunk([{ index: 0, text, logprobs: { token_logprobs: [-1], tokens: [text] }, finish_reason: finish }], {
      object: "text_completion",
    });
  expect(assemble([part("a", null), part("b", "stop")])).toMatchObject({
    object: "text_completion",
    choices: [
      { text: "ab", logprobs: { token_logprobs: [-1, -1], tokens: ["a", "b"] }, finish_reason: "stop" },
    ],
  });
});
