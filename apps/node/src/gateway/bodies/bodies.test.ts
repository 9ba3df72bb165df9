import { expect, it } from "vitest";
import { chat, GatewayFixture } from "../../testing/gateway-fixture";
import { words } from "../../testing/scripted-engine";
import { otherKey, testKey } from "../../testing/test-gateway";
import { chainOf } from "../conversations/open-conversation";
import type { Exchange, RouteView } from "../exchange/resources";
import { BodyRoom } from "./body-room";
import { weighBody } from "./body-weight";
import { boundPrompt } from "./bound-prompt";
import { readGeneration } from "./generation";

const on = new GatewayFixture();
const MIB = 1 << 20;

async function send(
  body: string | Uint8Array,
  key = testKey,
): Promise<{ status: number; code: string | undefined }> {
  const response = await fetch(`${on.gateway.origin}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body,
  });
  const answer = (await response.json()) as { error?: { code: string } };
  return { status: response.status, code: answer.error?.code };
}

it("refuses what is no UTF-8: it would be another prompt than was sent, and three times as long", async () => {
  const [before, after] = JSON.stringify(chat({ model: "pilot" })).split("one two three");
  const body = Buffer.concat([Buffer.from(before ?? ""), Buffer.alloc(60, 0xff), Buffer.from(after ?? "")]);
  expect(await send(body)).toEqual({ status: 400, code: "invalid_json" });
  expect(on.engine.legs).toEqual([]);
});

it("refuses what is nested too deep to be written out again", async () => {
  await on.restart({});
  for (const [deep, refusal] of [
    [300, { status: 400, code: "invalid_json" }],
    [500_000, { status: 413, code: "body_too_complex" }],
  ] as const) {
    const extra = `${"[".repeat(deep)}${"]".repeat(deep)}`;
    const body = `{"model": "pilot", "messages": [{"role": "user", "content": "a"}], "x": ${extra}}`;
    expect(await send(body)).toEqual(refusal);
  }
});

it("refuses what takes too long to read, and what an engine of the same bound would not take", async () => {
  await on.restart({ limits: { maxBodyBytes: 4 * MIB } });
  const given = (x: string) =>
    `{"model": "pilot", "messages": [{"role": "user", "content": "a"}], "x": [${x}]}`;
  const names = Array.from({ length: 100_000 }, (_, n) => `{"k${n}":{}}`).join();
  expect(await send(given(names))).toEqual({ status: 413, code: "body_too_complex" });
  // A megabyte of 1e20 is written out as five.
  const grows = Array.from({ length: 250_000 }, () => "1e20").join();
  expect(await send(given(grows))).toEqual({ status: 413, code: "body_too_large" });
  expect(on.engine.legs).toEqual([]);
  const ids = Array.from({ length: 200_000 }, (_, n) => n % 50_000).join();
  expect((await send(given(ids))).status).toBe(200);
});

it("names a response format's fault like any other", async () => {
  const odd = { response_format: { type: { toString: null } } };
  expect((await send(JSON.stringify(chat({ model: "pilot", ...odd })))).status).toBe(200);
});

it("counts what a body takes once it is read, and leaves room for other tenants", async () => {
  await on.restart({ limits: { allBodiesBytes: 8 * MIB } });
  let release = () => {};
  const after = new Promise<void>((done) => {
    release = done;
  });
  on.engine.script = () => ({ tokens: words("all is well"), after });
  // 90 KB of text, and 2 MB of objects.
  const heavy = JSON.stringify(chat({ model: "pilot", x: Array.from({ length: 30_000 }, () => ({})) }));
  const all = Array.from({ length: 6 }, () => send(heavy));
  const refused = Promise.any(all.map((one) => one.then(({ status }) => expect(status).toBe(503))));
  await expect.poll(() => on.gateway.bodyBytes(), { timeout: 10_000 }).toBeGreaterThan(2 * MIB);
  await refused;
  expect(on.gateway.bodyBytes()).toBeLessThanOrEqual(6 * MIB);
  const other = send(JSON.stringify(chat({ model: "pilot" })), otherKey);
  await expect.poll(() => on.engine.legs.map(({ body }) => body.x === undefined)).toContain(true);
  release();
  expect((await other).status).toBe(200);
  const answers = await Promise.all(all);
  expect(answers.map(({ status }) => status)).toContain(503);
  expect(answers.map(({ status }) => status)).toContain(200);
  await expect.poll(() => on.gateway.bodyBytes()).toBe(0);
});

it("weighs objects by what they take, and lets no tenant have everything", () => {
  expect(weighBody({ x: Array.from({ length: 1_000 }, () => ({})) })).toBeGreaterThan(60_000);
  expect(weighBody(chat())).toBeLessThan(1_000);
  const room = new BodyRoom(1_000);
  const greedy = room.enter("greedy");
  greedy.take(500);
  expect(() => greedy.take(300)).toThrow(/as many request bodies/);
  expect(() => greedy.take(250)).not.toThrow();
  expect(() => greedy.take(1)).toThrow(/as many request bodies/);
  room.enter("other").take(100);
  greedy.leave();
  greedy.leave();
  expect(room.bytes).toBe(100);
});

it("takes so many prompts at once, and counts none of more", async () => {
  await on.restart({});
  const prompts = Array.from({ length: 2_000 }, () => "a");
  const answer = await on.ask({ model: "pilot", prompt: prompts }, "/v1/completions");
  expect(answer.status).toBe(400);
  expect(answer.body.error.param).toBe("prompt");
  expect(on.engine.calls.filter(({ path }) => path === "/tokenize").length).toBeLessThan(10);
});

it("names the beginnings of no prompt that is longer than any model reads", async () => {
  const models = new Map([
    ["pilot", { max_model_len: 64 }],
    ["target", { max_model_len: 32 }],
  ]);
  const x = { tenant: { id: "t1" }, engine: { models } } as unknown as Exchange;
  const view = { pair: on.gateway.dials.pair } as RouteView;
  const chain = (length: number) => {
    const ids = Array.from({ length }, (_, at) => at);
    return chainOf(on.gateway.resources, x, view, { tokens: length, lengths: [length], ids });
  };
  expect(chain(64)?.length).toBe(64);
  expect(chain(65)).toBeNull();
});

it("bounds no prompt whose template is given texts to write", () => {
  const bound = (kwargs: object) => {
    const body = chat({ chat_template_kwargs: kwargs });
    return boundPrompt(readGeneration("/v1/chat/completions", body, false, 200), 8);
  };
  expect(bound({ enable_thinking: false })).not.toBeNull();
  expect(bound({ eos_token: "again and again" })).toBeNull();
  expect(bound({ nested: { text: "again" } })).toBeNull();
});

it("bounds numbers by what they are written out as", () => {
  const tools = `[{"type": "function", "function": {"enum": [${Array(100).fill("1e20").join(",")}]}}]`;
  const text = `{"messages": [{"role": "user", "content": "a"}], "tools": ${tools}}`;
  const read = readGeneration("/v1/chat/completions", JSON.parse(text), false, text.length);
  expect(boundPrompt(read, 8)?.[0]).toBeGreaterThan(100 * "100000000000000000000,".length);
});
