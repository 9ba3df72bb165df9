import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runPythonClient } from "./testing/python-client";
import { hasPython, type RealEngine, startRealEngine } from "./testing/real-engine";
import { startTestGateway, type TestGateway, testKey } from "./testing/test-gateway";

const say = (content: string) => [{ role: "user" as const, content }];
/** An explicit model, the route with its pilot sure, and the route escalating. */
const ways = ["target", "kept", "escalated"] as const;
type Way = (typeof ways)[number];
/** What the engine understands beyond OpenAI's fields. */
const endless = { ignore_eos: true } as object;

describe.runIf(hasPython())("the official openai clients before the bundled pair", () => {
  let real: RealEngine;
  let gateway: TestGateway;
  let client: OpenAI;

  beforeAll(async () => {
    real = await startRealEngine();
    gateway = await startTestGateway({ socketPath: real.socketPath }, { limits: { admissionMs: 500 } });
    gateway.dials.pair.mapper_sha256 = real.mapperSha256;
    client = new OpenAI({ apiKey: testKey, baseURL: `${gateway.origin}/v1`, maxRetries: 0 });
  }, 240_000);
  afterAll(async () => {
    await gateway?.stop();
    await real?.stop();
  });
  beforeEach(() => {
    gateway.dials.route.streaming = "window";
    go("kept");
  });

  /** Turns the judge's bounds, and names the model to ask for. */
  function go(way: Way): string {
    gateway.dials.route.judge =
      way === "escalated"
        ? { version: "logprob-1", mean_logprob: 0, min_logprob: 0 }
        : { version: "logprob-1", mean_logprob: -50, min_logprob: -500 };
    return way === "target" ? "target" : "helm-auto";
  }

  /** Nothing runs, nothing waits, no block is held, and the gateway's ledgers are empty. */
  async function settled(): Promise<void> {
    const used = async () => {
      const memory = await real.engine.client.memory();
      return Object.values(memory.models).reduce((sum, model) => sum + (model.kv_used_bytes ?? 0), 0);
    };
    await expect.poll(used, { timeout: 20_000 }).toBe(0);
    const gates = [...(gateway.resources.engine()?.gates.values() ?? [])];
    expect(gates.length).toBeGreaterThan(0);
    const empty = () => gates.every((gate) => gate.available === gate.capacity);
    await expect.poll(empty, { timeout: 10_000 }).toBe(true);
  }

  it.each(ways)("chat, whole and streamed, with log-probabilities and usage, %s", async (way) => {
    const model = go(way);
    const asked = { model, messages: say("sort: 7 3 9 1"), max_tokens: 12, temperature: 0 };
    const whole = await client.chat.completions.create({ ...asked, logprobs: true, top_logprobs: 2 });
    const choice = whole.choices[0];
    expect(whole.object).toBe("chat.completion");
    expect(whole.model).toBe(way === "kept" ? "pilot" : "target");
    expect(choice?.logprobs?.content).toHaveLength(whole.usage?.completion_tokens ?? -1);
    for (const entry of choice?.logprobs?.content ?? []) {
      expect(entry.top_logprobs).toHaveLength(2);
      expect(entry.logprob).toBeLessThanOrEqual(0);
    }
    const { prompt_tokens = 0, completion_tokens = 0 } = whole.usage ?? {};
    expect(whole.usage?.total_tokens).toBe(prompt_tokens + completion_tokens);
    const stream = await client.chat.completions.create({
      ...asked,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let last: OpenAI.ChatCompletionChunk | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      last = chunk;
    }
    expect(text).toBe(choice?.message.content);
    expect(last?.choices).toEqual([]);
    expect(last?.usage).toMatchObject({ prompt_tokens, completion_tokens });
  });

  it.each(ways)("completions, whole and streamed, %s", async (way) => {
    const model = go(way);
    const asked = { model, prompt: "copy: red blue", max_tokens: 8, temperature: 0 };
    const whole = await client.completions.create({ ...asked, logprobs: 2 });
    const { logprobs, text } = whole.choices[0] ?? {};
    expect(logprobs?.tokens).toHaveLength(whole.usage?.completion_tokens ?? -1);
    expect(logprobs?.token_logprobs?.every((value) => value <= 0)).toBe(true);
    let streamed = "";
    for await (const chunk of await client.completions.create({ ...asked, stream: true }))
      streamed += chunk.choices[0]?.text ?? "";
    expect(streamed).toBe(text);
  });

  it.each(ways)("a stop sequence ends the answer before itself, %s", async (way) => {
    const model = go(way);
    const asked = { model, messages: say("sort: 7 3 9 1"), max_tokens: 16, temperature: 0, ...endless };
    const text = (await client.chat.completions.create(asked)).choices[0]?.message.content ?? "";
    const mark = text.slice(text.length >> 1, (text.length >> 1) + 2);
    const stopped = await client.chat.completions.create({ ...asked, stop: [mark] });
    expect(stopped.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { content: text.slice(0, text.indexOf(mark)) },
    });
  });

  it("of several answers the least sure one decides", async () => {
    const { route } = gateway.dials;
    route.streaming = "buffer";
    // The bound on the minimum is the nearer one: whose minimum is lowest is the least sure.
    const bounds = { version: "logprob-1" as const, mean_logprob: -500 };
    route.judge = { ...bounds, min_logprob: -50 };
    const model = "helm-auto";
    const asked = { model, messages: say("a story"), max_tokens: 6, n: 4, seed: 3, temperature: 1.5 };
    const kept = await client.chat.completions.create({ ...asked, logprobs: true });
    const least = kept.choices.map(({ logprobs }) =>
      Math.min(...(logprobs?.content ?? []).map(({ logprob }) => logprob)),
    );
    const { judge } = (kept as never as { helm: { judge: { min_logprob: number } } }).helm;
    expect(kept.choices).toHaveLength(4);
    expect(new Set(least).size).toBeGreaterThan(1);
    expect(judge.min_logprob).toBeCloseTo(Math.min(...least), 5);
    // Between the least sure answer and the next: that one alone makes all of them the target's.
    const [first = 0, second = 0] = [...least].sort((a, b) => a - b);
    route.judge = { ...bounds, min_logprob: (first + second) / 2 };
    const escalated = await client.chat.completions.create(asked);
    expect(escalated).toMatchObject({ model: "target", helm: { decision: "escalated", reason: "LOW_MIN" } });
    expect(escalated.choices).toHaveLength(4);
    route.judge = { ...bounds, min_logprob: first - 0.01 };
    expect(await client.chat.completions.create(asked)).toMatchObject({ helm: { decision: "kept" } });
  });

  it("refusals arrive as their classes", async () => {
    const stranger = new OpenAI({ apiKey: "hlm_nobody", baseURL: client.baseURL, maxRetries: 0 });
    const ask = (body: object, from = client) =>
      from.chat.completions.create({ model: "target", messages: say("x"), max_tokens: 4, ...body });
    await expect(ask({}, stranger)).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    await expect(ask({ model: "nobody" })).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    for (const way of ways) {
      const model = go(way);
      const refused = await ask({ model, temperature: 9 }).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(OpenAI.BadRequestError);
      expect(refused).toMatchObject({ param: "temperature" });
    }
    await expect(ask({ cache_salt: "mine" })).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    await expect(ask({ max_tokens: 10_000_000 })).rejects.toMatchObject({ status: 413 });
    const gone = gateway.dials;
    gone.engineGone = true;
    await expect(ask({})).rejects.toBeInstanceOf(OpenAI.InternalServerError);
    gone.engineGone = false;
    await settled();
  });

  it.each(ways)("leaving in the middle leaves nothing running, %s", async (way) => {
    const model = go(way);
    const asked = { model, messages: say("on and on"), max_tokens: 3000, ...endless };
    const stream = await client.chat.completions.create({ ...asked, stream: true });
    for await (const _ of stream) break;
    await settled();
    const leaving = new AbortController();
    const whole = client.chat.completions.create(asked, { signal: leaving.signal });
    const used = async () => (await real.engine.client.memory()).models;
    const runs = async () => Object.values(await used()).some((one) => (one.kv_used_bytes ?? 0) > 0);
    await expect.poll(runs, { timeout: 20_000 }).toBe(true);
    leaving.abort();
    await expect(whole).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
    await settled();
  });

  it.each(["kept", "escalated"] as const)(
    "all of it from Python, %s",
    async (way) => {
      go(way);
      const { code, output } = await runPythonClient("test_bundled_pair.py", gateway.origin, "not full");
      expect(code, output).toBe(0);
      expect(output).toContain("15 passed");
      await settled();
    },
    180_000,
  );

  // The last one: a refusal keeps a place for whom it refused, and nobody else gets all of the room then.
  it("a full ledger is a rate limit, from both", async () => {
    const gate = gateway.resources.engine()?.gates.get("target");
    const all = await gate?.admit({ tenant: "somebody", bytes: gate.capacity, deadlineMs: 0 });
    if (all?.outcome !== "admitted") throw new Error("the ledger was not empty");
    try {
      const asked = { model: "target", messages: say("x"), max_tokens: 4 };
      const full = await client.chat.completions.create(asked).catch((error: unknown) => error);
      expect(full).toBeInstanceOf(OpenAI.RateLimitError);
      expect(full).toMatchObject({
        code: "kv_memory_short",
        error: { helm: { shortfall_bytes: expect.any(Number) } },
      });
      const { code, output } = await runPythonClient("test_bundled_pair.py", gateway.origin, "full");
      expect(code, output).toBe(0);
      expect(output).toContain("1 passed");
    } finally {
      all.reservation.release();
    }
    await settled();
  }, 120_000);
});
