import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { describe, expect, it } from "vitest";
import { chat, contentOf, events, GatewayFixture } from "../testing/gateway-fixture";
import { words } from "../testing/scripted-engine";
import { testKey } from "../testing/test-gateway";

const on = new GatewayFixture();

describe("streaming", () => {
  it("judges the window, then lets the pilot's answer go on", async () => {
    const answer = await on.ask(chat({ stream: true }));
    const seen = events(answer.body);
    const text = seen.map((part) => contentOf(part)).join("");
    expect(text).toBe("all is well");
    expect(answer.headers.get("x-helm-decision")).toBe("kept");
    expect(seen.at(-1)).toBe("[DONE]");
    const last = seen.at(-2) as { choices: unknown[]; helm: object; usage?: unknown };
    expect(last.helm).toMatchObject({ decision: "kept" });
    expect(last.choices).toHaveLength(1);
    expect(last.usage).toBeUndefined();
  });

  it("commits to the target before a byte has left, with headers that already know", async () => {
    on.unsure();
    const answer = await on.ask(chat({ stream: true, stream_options: { include_usage: true } }));
    const seen = events(answer.body);
    expect(answer.headers.get("x-helm-transfer")).toBe("transferred");
    expect(seen.map((part) => contentOf(part)).join("")).toBe("from the target");
    expect(seen.at(-2)).toMatchObject({
      choices: [],
      usage: { completion_tokens: 3 },
      helm: { transfer: "transferred" },
    });
    expect(JSON.stringify(seen)).not.toContain("kv_transfer_params");
  });

  it("says pending where the engine tells only at the end, and the truth in the last chunk", async () => {
    on.unsure({ transfer: { reportLate: true } });
    const answer = await on.ask(chat({ stream: true }));
    expect(answer.headers.get("x-helm-transfer")).toBe("pending");
    expect(events(answer.body).at(-2)).toMatchObject({ helm: { transfer: "transferred" } });
  });

  it("does not escalate because of what lies beyond the window", async () => {
    on.engine.script = () => ({ tokens: [...words("sure as ever "), ...words("until here", -9)] });
    expect((await on.ask(chat({ stream: true }))).headers.get("x-helm-decision")).toBe("kept");
    on.gateway.dials.route.streaming = "buffer";
    expect((await on.ask(chat({ stream: true }))).headers.get("x-helm-decision")).toBe("escalated");
  });

  it("never escalates a plain stream", async () => {
    on.unsure();
    on.gateway.dials.tenant = { ...on.gateway.dials.tenant, streaming: "stream" };
    const answer = await on.ask(chat({ stream: true }));
    expect(answer.headers.get("x-helm-reason")).toBe("STREAM_MODE");
    expect(answer.headers.get("x-helm-served-by")).toBe("pilot");
  });

  it("never switches after bytes have left: a transferred stream that breaks says so", async () => {
    on.unsure({ transfer: { tokens: words("a b c d"), dieAfter: 3 } });
    const answer = await on.ask(chat({ stream: true }));
    const seen = events(answer.body);
    expect(seen.at(-1)).toMatchObject({ error: { code: "engine_error" } });
    expect(on.engine.legs.filter((leg) => leg.body.model === "target")).toHaveLength(1);
  });

  it("ends the engine's work when the client goes away, and gives all room back", async () => {
    on.engine.script = () => ({ tokens: words("word ".repeat(200)), pause: 10 });
    for (const body of [chat({ stream: true }), chat({ stream: true, model: "target" }), chat()]) {
      const client = new AbortController();
      const before = on.engine.legs.length;
      const started = fetch(`${on.gateway.origin}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${testKey}` },
        body: JSON.stringify(body),
        signal: client.signal,
      }).then((response) => response.text());
      await expect.poll(() => on.engine.legs.length, { timeout: 10_000 }).toBeGreaterThan(before);
      client.abort();
      await expect(started).rejects.toThrow();
      await expect.poll(() => on.engine.legs.at(-1)?.aborted, { timeout: 10_000 }).toBe(true);
    }
    const served = on.gateway.resources.engine();
    await expect
      .poll(() => [...(served?.gates.values() ?? [])].every((gate) => gate.available === gate.capacity), {
        timeout: 10_000,
      })
      .toBe(true);
  });

  it.each(["explicit", "kept"])(
    "gives all room back at once when a client leaves that had stopped reading, %s",
    async (way) => {
      const page = "x".repeat(1 << 16);
      on.engine.script = () => ({
        tokens: Array.from({ length: 400 }, () => ({ text: page, logprob: -0.1 })),
      });
      const served = on.gateway.resources.engine();
      const gates = [...(served?.gates.values() ?? [])];
      const body = JSON.stringify(chat({ stream: true, ...(way === "explicit" && { model: "target" }) }));
      const asked = request(`${on.gateway.origin}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${testKey}` },
      });
      asked.end(body);
      const [answer] = (await once(asked, "response")) as [IncomingMessage];
      answer.pause();
      // Until what is written fills every buffer on the way, and the gateway waits.
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(gates.some((gate) => gate.available < gate.capacity)).toBe(true);
      asked.destroy();
      const empty = () => gates.every((gate) => gate.available === gate.capacity);
      await expect.poll(empty, { timeout: 10_000 }).toBe(true);
    },
  );
});
