import { setTimeout as pause } from "node:timers/promises";
import type { Shortfall } from "@helm/admission";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cacheBytes } from "../../engine/engine-facts";
import { readEngineLoad } from "../../testing/engine-load";
import { hasPython, type RealEngine, startRealEngine } from "../../testing/real-engine";
import { otherKey, startTestGateway, type TestGateway, testKey } from "../../testing/test-gateway";

/** Bytes of a token in both bundled models together: the engine gives each model room for the same number of tokens. */
const TOKEN_BYTES = 5_120 + 7_168;
/** One long request and a half. */
const BUDGET_TOKENS = 1_500;
const SHORT = { model: "pilot", messages: say("king door. king?"), max_tokens: 8, temperature: 0 };
const LONG = {
  model: "pilot",
  messages: say(`${"green rose, tree song, melon room, star drum. ".repeat(40)}tree?`),
  max_tokens: 400,
  ignore_eos: true,
};
const ROUNDS = 2;

interface Refusal {
  ticket: string | null;
  helm: Shortfall;
}

describe.runIf(hasPython())("a budget too small for two long requests, before the reference engine", () => {
  let real: RealEngine;
  let gateway: TestGateway;

  beforeAll(async () => {
    real = await startRealEngine({ budgets: { kv: BUDGET_TOKENS * TOKEN_BYTES } });
    gateway = await startTestGateway({ socketPath: real.socketPath }, { limits: { admissionMs: 100 } });
  }, 240_000);
  afterAll(async () => {
    await gateway?.stop();
    await real?.stop();
  });

  it("lets short ones flow, gives the long ones a number that comes true, and starves nobody", async () => {
    const refusals: Refusal[] = [];
    let longs = 2;
    const short = async () => {
      let served = 0;
      while (longs > 0) {
        const answer = await ask(SHORT, testKey);
        expect([answer.status, served]).toEqual([200, served]);
        served += 1;
      }
      return served;
    };
    const long = async (key: string) => {
      for (let done = 0; done < ROUNDS; ) {
        const answer = await ask(LONG, key);
        if (answer.status === 200) {
          done += 1;
          continue;
        }
        expect(answer.status).toBe(429);
        await comeBack(key, answer.body.error.helm);
        done += 1;
      }
    };
    /** As the refusal says: after so long, with the ticket; once is enough. */
    const comeBack = async (key: string, helm: Shortfall) => {
      refusals.push({ ticket: helm.ticket, helm });
      expect(helm.ticket).toEqual(expect.any(String));
      await pause(helm.retry_after_ms);
      const again = await ask(LONG, key, { "x-helm-ticket": helm.ticket ?? "" });
      expect([again.status, again.body.error]).toEqual([200, undefined]);
    };
    const end = (key: string) => long(key).finally(() => (longs -= 1));
    const [served] = await Promise.all([
      Promise.all([short(), short(), short()]),
      end(testKey),
      end(otherKey),
    ]);
    expect(Math.min(...served)).toBeGreaterThan(0);
    expect(refusals.length).toBeGreaterThan(0);
    const memory = real.engine.memory.models.pilot;
    if (!memory) throw new Error("the pilot is measured");
    const needed = cacheBytes(memory, await promptTokens(), LONG.max_tokens, 1);
    expect(2 * needed).toBeGreaterThan(memory.kv_budget_bytes);
    for (const { helm } of refusals) {
      expect(helm).toMatchObject({ needed_bytes: needed, never_fits: false });
      expect(helm.shortfall_bytes).toBe(Math.max(0, needed - helm.available_bytes));
    }
    expect(refusals.some(({ helm }) => helm.shortfall_bytes > 0)).toBe(true);
    const gate = gateway.resources.engine()?.gates.get("pilot");
    await expect
      .poll(() => [gate?.reserved, gate?.waiting, gate?.ticketsOut], { timeout: 15_000 })
      .toEqual([0, 0, 0]);
    await expect
      .poll(() => readEngineLoad(real), { timeout: 15_000 })
      .toMatchObject({ running: 0, waiting: 0, kvUsedBytes: 0 });
  }, 240_000);

  async function promptTokens(): Promise<number> {
    const { model, messages } = LONG;
    return (await real.engine.client.tokenize({ model, messages })).tokens.length;
  }

  async function ask(body: object, key: string, headers: Record<string, string> = {}) {
    const response = await fetch(`${gateway.origin}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, ...headers },
      body: JSON.stringify(body),
    });
    // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here
    return { status: response.status, body: (await response.json()) as any };
  }
});

function say(content: string) {
  return [{ role: "user", content }];
}
