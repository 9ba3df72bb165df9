import OpenAI from "openai";
import { beforeEach, describe, expect, it } from "vitest";
import type { JsonBody } from "../engine/engine-client";
import { chat, GatewayFixture } from "../testing/gateway-fixture";
import { runPythonClient } from "../testing/python-client";
import { hasPython } from "../testing/real-engine";
import { type Script, words } from "../testing/scripted-engine";
import { testKey } from "../testing/test-gateway";

// The engine is scripted, a TEST DOUBLE: the reference engine has no tools, no JSON mode and no reasoning to offer.
const on = new GatewayFixture();

const call = (index: number, id: string, place: string) => ({
  index,
  id,
  type: "function",
  function: { name: "look_up", arguments: JSON.stringify({ place }) },
});
const calls = [call(0, "call_1", "Köln"), call(1, "call_2", "Ōsaka")];
const withoutIndex = ({ index: _, ...rest }: ReturnType<typeof call>) => rest;
const plain = { role: "assistant", refusal: null };

/** What the engine says to each last message: whole, and in parts as an engine streams them. */
const answers: Record<string, NonNullable<Script["answer"]>> = {
  "use tools": {
    message: { ...plain, content: null, tool_calls: calls.map(withoutIndex) },
    deltas: [
      { role: "assistant", content: null },
      ...calls.flatMap(({ index, id, type, function: { name, arguments: text } }) => [
        { tool_calls: [{ index, id, type, function: { name, arguments: "" } }] },
        { tool_calls: [{ index, function: { arguments: text.slice(0, 4) } }] },
        { tool_calls: [{ index, function: { arguments: text.slice(4) } }] },
      ]),
    ],
    finish: "tool_calls",
  },
  "use json": {
    message: { ...plain, content: '{"ok": true, "names": ["ä", "b"]}' },
    deltas: [
      { role: "assistant", content: "" },
      { content: '{"ok": true, ' },
      { content: '"names": ["ä", "b"]}' },
    ],
    finish: "stop",
  },
  think: {
    message: { ...plain, reasoning_content: "let me see", content: "four" },
    deltas: [
      { role: "assistant", content: "" },
      { reasoning_content: "let me" },
      { reasoning_content: " see" },
      { content: "four" },
    ],
    finish: "stop",
  },
};
const tools = [
  { type: "function", function: { name: "look_up", description: "…", parameters: { type: "object" } } },
];
/** Everything a caller may say that is the engine's business alone, by the last message. */
const wishes: Record<string, JsonBody> = {
  "use tools": { tools, tool_choice: "auto", parallel_tool_calls: true },
  "use json": {
    response_format: {
      type: "json_schema",
      json_schema: { name: "x", strict: true, schema: { type: "object", additionalProperties: true } },
    },
  },
  think: { reasoning_effort: "low", chat_template_kwargs: { enable_thinking: true }, metadata: { a: "b" } },
};
const history = [
  { role: "system", content: "be brief" },
  { role: "user", content: [{ type: "text", text: "where?" }] },
  { role: "assistant", content: null, tool_calls: [withoutIndex(call(0, "call_0", "Rom"))] },
  { role: "tool", tool_call_id: "call_0", content: "sunny" },
];

type Way = "explicit" | "kept" | "escalated";
const ways: Way[] = ["explicit", "kept", "escalated"];

/** The pilot doubts where a request is to be escalated; whoever answers says what the last message asks for. */
function say(way: Way): void {
  on.engine.script = (body) => {
    const last = (body.messages as { content: string }[]).at(-1)?.content ?? "";
    const kv = body.kv_transfer_params as { do_stage?: boolean } | undefined;
    if (kv?.do_stage) return { tokens: words("x"), report: { result: "staged" } };
    if (way === "escalated" && body.model === "pilot") return { tokens: words("not so sure", -9) };
    const report = kv && { result: "transferred", reason: null, tokens_moved: 9, tail_tokens: 1, map_ms: 1 };
    const answer = answers[last];
    return { tokens: words("nothing"), ...(answer && { answer }), ...(report && { report }) };
  };
}

function bodyFor(way: Way, last: string, extra: object = {}): JsonBody {
  const messages = [...history, { role: "user", content: last }];
  return { ...chat({ messages, ...wishes[last] }), ...(way === "explicit" && { model: "target" }), ...extra };
}

describe.each(ways)("what is more than text, %s", (way) => {
  let client: OpenAI;

  beforeEach(() => {
    client = new OpenAI({ apiKey: testKey, baseURL: `${on.gateway.origin}/v1`, maxRetries: 0 });
    // Whole answers are judged, so that one that is kept has been looked at.
    on.gateway.dials.route.streaming = "buffer";
    say(way);
  });

  it.each(Object.keys(answers))("%s: reaches every leg as the caller wrote it", async (last) => {
    for (const stream of [false, true]) {
      on.engine.calls.length = 0;
      const body = bodyFor(way, last, { stream });
      expect((await on.ask(body)).status).toBe(200);
      const legs = on.engine.legs;
      expect(legs.map((leg) => leg.body.model)).toEqual(
        { explicit: ["target"], kept: ["pilot"], escalated: ["pilot", "pilot", "target"] }[way],
      );
      for (const leg of legs) expect(leg.body).toMatchObject({ messages: body.messages, ...wishes[last] });
    }
  });

  it.each(Object.keys(answers))("%s: comes back whole as the engine said it", async (last) => {
    const answer = await on.ask(bodyFor(way, last));
    const choice = answer.body.choices[0];
    expect(choice.message).toEqual(answers[last]?.message);
    expect(choice.finish_reason).toBe(answers[last]?.finish);
    if (way !== "explicit") expect(answer.body.helm.decision).toBe(way);
    const typed = await client.chat.completions.create(
      bodyFor(way, last) as never as OpenAI.ChatCompletionCreateParamsNonStreaming,
    );
    expect(typed.choices[0]?.message).toEqual(answers[last]?.message);
  });

  it.each(Object.keys(answers))("%s: comes back in the engine's own parts", async (last) => {
    const stream = await client.chat.completions.create(
      bodyFor(way, last, { stream: true }) as never as OpenAI.ChatCompletionCreateParamsStreaming,
    );
    const parts = [];
    for await (const chunk of stream) parts.push(...chunk.choices);
    expect(parts.map((part) => part.delta)).toEqual(answers[last]?.deltas);
    expect(parts.at(-1)?.finish_reason).toBe(answers[last]?.finish);
  });

  it("adds tool calls up through the client's own helper", async () => {
    const final = await client.chat.completions
      .stream(bodyFor(way, "use tools") as never as Parameters<typeof client.chat.completions.stream>[0])
      .finalChatCompletion();
    expect(final.choices[0]?.message.tool_calls).toMatchObject(calls.map(withoutIndex));
  });
});

it("keeps the served model within a tool loop", async () => {
  say("kept");
  const loop = { messages: history, tools };
  const first = await on.ask(bodyFor("kept", "use tools"), undefined, { "x-helm-session": "s" });
  expect(first.body.helm.served_by).toBe("pilot");
  on.engine.script = (body) =>
    body.model === "pilot" ? { tokens: words("unsure", -9) } : { tokens: words("from the target") };
  const next = await on.ask(loop, undefined, { "x-helm-session": "s" });
  expect(next.body.helm).toMatchObject({ served_by: "pilot", reason: "TOOL_LOOP" });
});

describe.runIf(hasPython())("through the official Python client", () => {
  it.each(["kept", "escalated"] as const)(
    "passes it on, %s",
    async (way) => {
      on.gateway.dials.route.streaming = "buffer";
      say(way);
      const { code, output } = await runPythonClient("test_scripted.py", on.gateway.origin, "PassedThrough");
      expect(output).toContain("6 passed");
      expect(code).toBe(0);
    },
    120_000,
  );
});
