import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type RequestTrace, TraceBatch } from "@helm/contracts";
import { HostClient, MAPPER_FILE } from "@helm/host";
import OpenAI from "openai";
import pino from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { PairRoom } from "./config/pair-room";
import { compareWithOffline, OfflineAnswers } from "./testing/equality";
import { hasPython, type RealEngine, startRealEngine } from "./testing/real-engine";
import { snapshotOf } from "./testing/signing";
import { startTestGateway, type TestGateway, testKey } from "./testing/test-gateway";

const say = (content: string) => [{ role: "user" as const, content }];
const long = `${"green rose, tree song, melon room, star drum. ".repeat(20)}tree?`;

describe.runIf(hasPython())("the gateway before the reference engine", () => {
  let real: RealEngine;
  let gateway: TestGateway;
  let client: OpenAI;

  beforeAll(async () => {
    real = await startRealEngine();
    // A busy machine must not be taken for a transfer that hangs: with 64 at once each waits for the others.
    gateway = await startTestGateway({ socketPath: real.socketPath }, { limits: { transferMs: 60_000 } });
    client = new OpenAI({ apiKey: testKey, baseURL: `${gateway.origin}/v1`, maxRetries: 0 });
  }, 240_000);
  afterAll(async () => {
    await gateway?.stop();
    await real?.stop();
  });
  beforeEach(() => {
    const { dials } = gateway;
    dials.pair.mapper_sha256 = real.mapperSha256;
    dials.pair.refusal = null;
    dials.readiness = { pair_id: dials.pair.id, state: "READY", min_tokens: 1 };
    dials.route.streaming = "window";
    sure(true);
  });

  /** The judge's thresholds decide who answers, whatever the bundled models have learned so far. */
  function sure(pilot: boolean): void {
    gateway.dials.route.judge = pilot
      ? { version: "logprob-1", mean_logprob: -50, min_logprob: -500 }
      : { version: "logprob-1", mean_logprob: 0, min_logprob: 0 };
  }

  async function ask(body: object, path = "/v1/chat/completions") {
    const response = await fetch(gateway.origin + path, {
      method: "POST",
      headers: { authorization: `Bearer ${testKey}` },
      body: JSON.stringify({ max_tokens: 8, temperature: 0, ...body }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here
    return { status: response.status, headers: response.headers, body: (await response.json()) as any };
  }

  it("passes explicit models through", async () => {
    for (const model of ["pilot", "target"]) {
      const answer = await client.chat.completions.create({
        model,
        messages: say("king door. king?"),
        max_tokens: 6,
      });
      expect(answer.model).toBe(model);
      expect(answer.usage?.completion_tokens).toBeGreaterThan(0);
    }
    await expect(client.chat.completions.create({ model: "x", messages: say("a") })).rejects.toMatchObject({
      status: 404,
      code: "model_not_found",
    });
  });

  it("keeps what the pilot is sure of", async () => {
    const answer = await ask({ messages: say("king door. king?") });
    expect(answer.body.helm).toMatchObject({ served_by: "pilot", decision: "kept", transfer: "none" });
    expect(answer.body.helm.judge.mean_logprob).toBeLessThan(0);
  });

  it("escalates from the pilot's cache, moving all but the tail", async () => {
    sure(false);
    const answer = await ask({ messages: say(long), return_token_ids: true });
    const prompt = answer.body.prompt_token_ids.length;
    const tail = Math.min(64, Math.max(1, Math.floor(prompt / 20)));
    expect(answer.body.model).toBe("target");
    expect(answer.body.helm).toMatchObject({
      decision: "escalated",
      transfer: "transferred",
      tokens_moved: prompt - tail,
      tail_tokens: tail,
    });
    expect(answer.body.helm.timing.stage_ms).toBeGreaterThan(0);
    expect(answer.body.helm.timing.map_ms).toBeGreaterThan(0);
    expect(answer.body.usage.prompt_tokens).toBe(prompt);
    const id = answer.headers.get("x-helm-trace-id");
    const { outbox } = gateway.resources.traces;
    const sent: RequestTrace[] = [];
    for (let batch = outbox.report(); batch; batch = outbox.report()) {
      sent.push(...TraceBatch.parse(JSON.parse(JSON.stringify(batch))).traces);
      outbox.sent(batch);
    }
    const trace = sent.find((one) => one.id === id);
    expect(trace?.tokens).toEqual({ prompt, moved: prompt - tail, tail });
    expect(trace?.legs.map(({ role, answered }) => [role, answered])).toEqual([
      ["pilot", false],
      ["stage", false],
      ["target", true],
    ]);
    for (const step of ["stage_ms", "map_ms", "install_ms", "total_ms"] as const)
      expect(trace?.steps?.[step], step).toBeGreaterThan(0);
  });

  it("escalates at an agent's word, with the conversation", async () => {
    const answer = await ask({ messages: say(long) }, "/v1/helm/escalate");
    expect(answer.body.helm).toMatchObject({ reason: "AGENT", transfer: "transferred", judge: null });
  });

  it("streams through the official client, and the last chunk says what happened", async () => {
    for (const [pilot, decision] of [
      [true, "kept"],
      [false, "escalated"],
    ] as const) {
      sure(pilot);
      const stream = await client.chat.completions
        .create({ model: "helm-auto", messages: say(long), max_tokens: 8, temperature: 0, stream: true })
        .withResponse();
      expect(stream.response.headers.get("x-helm-decision")).toBe(decision);
      expect(stream.response.headers.get("x-helm-transfer")).toBe(pilot ? "none" : "transferred");
      const chunks = [];
      for await (const chunk of stream.data) chunks.push(chunk);
      expect(chunks.at(-1)).toMatchObject({ helm: { decision } });
    }
  });

  it("says the same whether streamed or not", async () => {
    sure(false);
    const whole = await ask({ messages: say(long) });
    const stream = await client.chat.completions.create({
      model: "helm-auto",
      messages: say(long),
      max_tokens: 8,
      temperature: 0,
      stream: true,
    });
    let text = "";
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
    expect(text).toBe(whole.body.choices[0].message.content);
  });

  it("falls back with the reason and answers all the same", async () => {
    sure(false);
    const native = await ask({ messages: say(long), model: "target" });
    const text = native.body.choices[0].message.content;
    const { dials } = gateway;
    const cases: [string, () => void][] = [
      ["BLOCK_TOO_SMALL", () => (dials.readiness.min_tokens = null)],
      ["MAPPER_NOT_RESIDENT", () => (dials.readiness = { pair_id: dials.pair.id, state: "FETCHING" })],
      ["ARTIFACT_UNREADABLE", () => (dials.pair.mapper_sha256 = "b".repeat(64))],
      ["NOT_CALIBRATED", () => (dials.pair.refusal = "NOT_CALIBRATED")],
    ];
    for (const [reason, turn] of cases) {
      dials.readiness = { pair_id: dials.pair.id, state: "READY", min_tokens: 1 };
      turn();
      // A mapper the engine does not have is looked for in the background first.
      const answer = await ask({ messages: say(long) });
      const told = answer.body.helm.reason;
      if (reason === "ARTIFACT_UNREADABLE") expect([reason, "MAPPER_NOT_RESIDENT"]).toContain(told);
      else expect(told).toBe(reason);
      expect(answer.body.helm.transfer).toBe("fallback");
      expect(answer.body.choices[0].message.content).toBe(text);
    }
  });

  it("refuses what the engine cannot serve, before and after routing alike", async () => {
    for (const model of ["target", "helm-auto"]) {
      const answer = await ask({ model, messages: [{ role: "nobody", content: "x" }] });
      expect([answer.status, answer.body.error.param]).toEqual([400, "messages[0].role"]);
    }
    expect((await ask({ messages: say("x"), max_tokens: 10_000_000 })).status).toBe(413);
  });

  it("stops the engine's work when the client leaves", async () => {
    const stream = await client.chat.completions.create({
      model: "target",
      messages: say("king door. king?"),
      max_tokens: 2000,
      stream: true,
      ...{ ignore_eos: true },
    });
    for await (const _ of stream) break;
    stream.controller.abort();
    await expect
      .poll(async () => (await real.engine.client.memory()).models.target?.kv_used_bytes, { timeout: 10_000 })
      .toBe(0);
  });

  it("transfers a hundred real prompts, 64 at once and alone, to exactly what the offline decode says", async () => {
    sure(false);
    const ask = { maxTokens: 16, transfer: "force" as const };
    const offline = new OfflineAnswers(real, ask.maxTokens);
    for (const [prompts, atOnce, batch] of [
      [110, 64, 4],
      [16, 1, 1],
    ] as const) {
      const counts = await compareWithOffline(gateway, real, { ...ask, prompts, atOnce }, offline);
      expect(counts.different).toEqual([]);
      expect(counts.transferred).toBeGreaterThanOrEqual(Math.min(100, prompts));
      expect(counts.equal + counts.nearTies).toBe(prompts);
      expect(counts.meanBatch).toBeGreaterThanOrEqual(batch);
    }
  }, 240_000);

  it("answers without a transfer exactly what the target alone says", async () => {
    sure(false);
    const ask = { prompts: 24, maxTokens: 24, atOnce: 8, transfer: "off" as const };
    expect(await compareWithOffline(gateway, real, ask)).toMatchObject({ transferred: 0, different: [] });
  }, 240_000);

  it("makes a pair ready by a real transfer, and waits for a mapper it cannot fetch", async () => {
    const { size } = await stat(join(real.mapperDir, real.mapperSha256, MAPPER_FILE));
    const pair = { ...gateway.dials.pair, pilot_weights_sha256: null, target_weights_sha256: null };
    const here = { ...pair, id: "here", mapper_sha256: real.mapperSha256, mapper_bytes: size };
    const away = { ...pair, id: "away", mapper_sha256: "b".repeat(64), mapper_bytes: size };
    const foreign = { ...here, id: "foreign", target_weights_sha256: "c".repeat(64) };
    const artifacts = new HostClient({ controlUrl: "http://127.0.0.1:9" });
    const room = new PairRoom(
      {
        mapperDir: real.mapperDir,
        artifacts,
        development: true,
        nodeId: "n1",
        canaryLengths: [48, 96],
        canaryMs: 5_000,
      },
      pino({ level: "silent" }),
      () => {},
    );
    try {
      room.reconcile(snapshotOf(1, { pairs: [here, away, foreign] }), real.engine);
      expect(room.readiness("foreign")).toMatchObject({ state: "REFUSED", code: "PAIR_MISMATCH" });
      await expect.poll(() => room.readiness("here").state, { timeout: 60_000 }).toBe("READY");
      expect(room.readiness("here").canary_at).toBeTruthy();
      expect(room.readiness("away").state).toBe("FETCHING");
      room.reconcile(snapshotOf(2, { pairs: [{ ...here, refusal: "NOT_ABOVE_PILOT" }] }), real.engine);
      expect(room.list()).toEqual([{ pair_id: "here", state: "REFUSED", code: "NOT_ABOVE_PILOT" }]);
    } finally {
      room.close();
      await artifacts.close();
    }
  }, 90_000);

  it("serves again after its engine was killed", async () => {
    const before = real.supervisor.pid;
    if (before === null) throw new Error("the engine runs");
    const asked = ask({ model: "target", messages: say(long), max_tokens: 2000, ignore_eos: true });
    await new Promise((resolve) => setTimeout(resolve, 300));
    process.kill(before, "SIGKILL");
    const answer = await asked;
    expect([502, 503]).toContain(answer.status);
    expect(answer.body.error.message).not.toContain("socket");
    await expect.poll(() => real.supervisor.current, { timeout: 10_000 }).toBeNull();
    await expect.poll(() => real.supervisor.current, { timeout: 220_000 }).not.toBeNull();
    expect(real.supervisor.pid).not.toBe(before);
  }, 240_000);
});
