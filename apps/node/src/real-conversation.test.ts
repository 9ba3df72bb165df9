import { beforeEach, describe, expect, it } from "vitest";
import type { JsonBody } from "./engine/engine-client";
import { useConversations } from "./testing/conversations";
import { hasPython } from "./testing/real-engine";
import { otherKey } from "./testing/test-gateway";

const tailOf = (prompt: number) => Math.min(64, Math.max(1, Math.floor(prompt / 20)));
const BLOCK = 16;

describe.runIf(hasPython())("conversations before the reference engine", () => {
  const on = useConversations("random");
  const { sure, ask } = on;

  const asked = (turn: number) =>
    `green rose, tree song, melon room ${turn}. star drum and king door? ${turn}`;

  it.each([undefined, "named"])(
    "carries ten kept turns up at the agent's wish (session: %s)",
    async (session) => {
      const messages: { role: string; content: string }[] = [];
      for (let turn = 1; turn <= 10; turn++) {
        messages.push({ role: "user", content: `${asked(turn)} ${session ?? "unnamed"}` });
        const answer = await ask({ messages }, { session });
        expect(answer.helm).toMatchObject({ served_by: "pilot", decision: "kept", transfer: "none" });
        messages.push({ role: "assistant", content: answer.choices[0].message.content });
      }
      messages.push({ role: "user", content: "one more, please" });
      on.bodies.length = 0;
      const answer = await ask({ messages }, { path: "/v1/helm/escalate", session });
      const prompt = answer.prompt_token_ids.length;
      expect(answer.helm).toMatchObject({
        served_by: "target",
        decision: "escalated",
        reason: "AGENT",
        transfer: "transferred",
        tokens_moved: prompt - tailOf(prompt),
        tail_tokens: tailOf(prompt),
      });
      // It stays there, under the line that was carried, of which nothing is translated again.
      messages.push({ role: "assistant", content: answer.choices[0].message.content });
      messages.push({ role: "user", content: "and again?" });
      const held = await ask({ messages }, { session });
      expect(held.helm).toMatchObject({ reason: "SESSION_HELD", served_by: "target", transfer: "none" });
      expect(held.usage.prompt_tokens_details.cached_tokens).toBeGreaterThanOrEqual(
        prompt - (prompt % BLOCK),
      );
    },
  );

  it("comes down by return and goes up again, and both models' answers are of their own lines", async () => {
    const messages = [{ role: "user", content: `${asked(1)} ${"melon tree ".repeat(40)}` }];
    const session = "up-and-down";
    const say = async (path: string) => {
      const answer = await ask({ messages }, { path, session });
      messages.push({ role: "assistant", content: answer.choices[0].message.content });
      messages.push({ role: "user", content: `${asked(messages.length)} ${"rose drum ".repeat(20)}` });
      return answer.helm;
    };
    expect(await say("/v1/helm/escalate")).toMatchObject({ served_by: "target", transfer: "transferred" });
    expect(await say("/v1/helm/return")).toMatchObject({
      served_by: "pilot",
      decision: "kept",
      reason: "RETURNED",
      transfer: "transferred",
    });
    expect(await say("/v1/chat/completions")).toMatchObject({ served_by: "pilot", transfer: "none" });
    expect(await say("/v1/helm/escalate")).toMatchObject({ served_by: "target", transfer: "transferred" });
    const { values } = await on.gateway.resources.metrics.lostPrefixHits.get();
    expect(values.every(({ value }) => value === 0)).toBe(true);
  });

  it("measures a kept and an escalated request by greedy copies, with the target's own log-likelihood", async () => {
    const { outbox } = on.gateway.resources.traces;
    const shareOf = async (body: object) => {
      for (let batch = outbox.report(); batch; batch = outbox.report()) outbox.sent(batch);
      await ask(body);
      await expect.poll(() => outbox.report(), { timeout: 30_000 }).not.toBeNull();
      return outbox.report()?.traces[0];
    };
    const messages = [{ role: "user", content: `shares: ${"melon tree, star door. ".repeat(12)}king?` }];
    on.gateway.dials.route.shares = { kept_also_target: 1, escalated_also_native: 1, forced_escalation: 0 };
    const kept = await shareOf({ messages, temperature: 1 });
    expect(kept).toMatchObject({ kept: "share", decision: "kept", share: { kind: "kept_also_target" } });
    expect(kept?.share?.positions?.compared).toBeGreaterThan(0);
    expect(kept?.share?.target_mean_loglik).toBeLessThan(0);
    sure(false);
    const escalated = await shareOf({ messages });
    expect(escalated).toMatchObject({ transfer: "transferred", share: { kind: "escalated_also_native" } });
    expect(escalated?.share?.first_token_ms).toBeGreaterThan(0);
    const copies = escalated?.legs.filter(({ role }) => role === "share");
    expect(copies?.map(({ model }) => model)).toEqual(["target", "target"]);
    const free = [...(on.gateway.resources.engine()?.gates.values() ?? [])];
    expect(free.map((gate) => gate.available)).toEqual(free.map((gate) => gate.capacity));
  });

  describe("nobody else finds what a mapper wrote", () => {
    // One session through many cases.
    beforeEach(() => {
      on.gateway.dials.route.max_switches = 1_000;
    });
    const prompt = (about: string) => [
      { role: "user", content: `${about}: ${"melon tree, star door. ".repeat(24)}king?` },
    ];
    const text = (answer: { choices: { message: { content: string } }[] }) =>
      answer.choices[0]?.message.content;
    /** What the target says by itself, asked by a tenant that nothing was carried for. */
    const native = async (messages: object[]) =>
      text(await ask({ messages, model: "target" }, { key: otherKey }));

    it.each([
      ["another request of the tenant", {}, { model: "target" }],
      ["another conversation of the tenant", { session: "b" }, { helm: { transfer: "off" } }],
      ["the conversation itself, natively", { session: "a" }, { helm: { transfer: "off" } }],
      ["another tenant", { key: otherKey }, { model: "target" }],
      [
        "another tenant in a session of that name",
        { key: otherKey, session: "a" },
        { helm: { transfer: "off" } },
      ],
    ])("%s reads its prompt itself, then and later", async (who, options, body) => {
      const messages = prompt(who);
      sure(false);
      const carried = await ask({ messages }, { session: "a", path: "/v1/helm/escalate" });
      expect(carried.helm.transfer).toBe("transferred");
      const path = "helm" in body ? "/v1/helm/escalate" : "/v1/chat/completions";
      const first = await ask({ messages, ...body }, { path, ...options });
      expect([first.model, first.helm?.transfer ?? "none"]).toEqual(["target", "none"]);
      expect(first.usage.prompt_tokens_details.cached_tokens).toBe(0);
      const alone = await native(messages);
      expect(text(first)).toBe(alone);
      // The carried line goes on meanwhile, and what was read natively is found by its own again.
      await ask({ messages }, { session: "a", path: "/v1/helm/escalate" });
      const later = await ask({ messages, ...body }, { path, ...options });
      expect(text(later)).toBe(alone);
    });

    it("another mapped conversation of the tenant carries the same words anew", async () => {
      const messages = prompt("twice");
      const moved = [];
      for (const session of ["c", "d", undefined]) {
        const answer = await ask({ messages }, { session, path: "/v1/helm/escalate" });
        moved.push(answer.helm.tokens_moved);
      }
      const [first] = moved;
      expect(first).toBeGreaterThan(0);
      expect(moved).toEqual([first, first, first]);
      const salts = on.bodies.filter(({ model }) => model === "target").map((body) => body.cache_salt);
      expect(new Set(salts).size).toBe(3);
    });

    it("a guessed, a replayed, a foreign and an expired handle bring the target's own answer, never data", async () => {
      const messages = prompt("handles");
      const carried = await ask({ messages }, { session: "e", path: "/v1/helm/escalate" });
      expect(carried.helm.transfer).toBe("transferred");
      const sent = on.bodies.find((body) => kvOf(body).mapper_sha256);
      const params = kvOf(sent);
      const { client } = on.real.engine;
      const limits = { signal: AbortSignal.timeout(60_000) };
      const alone = await native(messages);
      const tell = async (name: string, kv: JsonBody) => {
        const body = { ...sent, stream: false, stream_options: undefined, cache_salt: `other ${name}` };
        const answer = await client.complete(
          "/v1/chat/completions",
          { ...body, kv_transfer_params: { ...kv, native_salt: `none ${name}` } },
          limits,
        );
        // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here
        const told = answer as any;
        expect([name, told.kv_transfer_params.result, told.kv_transfer_params.reason]).toEqual([
          name,
          "fallback",
          "STAGING_GONE",
        ]);
        expect([name, told.usage.prompt_tokens_details.cached_tokens, text(told)]).toEqual([name, 0, alone]);
      };
      const stage = async (mac: string, ttl: number) => {
        const mark = { handle: on.gateway.resources.salts.newHandle(), mac };
        const body = { model: "pilot", messages, max_tokens: 1, cache_salt: "elsewhere" };
        const staged = { do_stage: true, ttl_ms: ttl, ...mark };
        await client.complete("/v1/chat/completions", { ...body, kv_transfer_params: staged }, limits);
        return { ...params, ...mark };
      };
      await tell("guessed", { ...params, handle: "0".repeat(32) });
      await tell("replayed", params);
      const tokens: number[] = carried.prompt_token_ids;
      const theirs = on.gateway.resources.salts.stagingMac("t2", tokens, on.real.mapperSha256);
      const foreign = await stage(theirs, 30_000);
      await tell("foreign", { ...foreign, mac: params.mac });
      await tell("foreign, once its mark is known", foreign);
      const expired = await stage(String(params.mac), 1);
      await new Promise((resolve) => setTimeout(resolve, 50));
      await tell("expired", expired);
      expect((await client.memory()).staging?.used_bytes).toBe(0);
    });

    const kvOf = (body: JsonBody | undefined) => (body?.kv_transfer_params ?? {}) as JsonBody;
  });
});
