import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FallbackReason, type RequestTrace } from "@helm/contracts";
import { MAPPER_FILE } from "@helm/host";
import pino from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Chunk } from "./engine/chunk";
import type { EngineClient, JsonBody } from "./engine/engine-client";
import { hasPython, type RealEngine, startRealEngine } from "./testing/real-engine";
import { otherKey, reversePair, startTestGateway, type TestGateway, testKey } from "./testing/test-gateway";

interface Provoked {
  /** Turns the dials so that the code comes up. */
  turn: () => void | Promise<void>;
  /** What the answer's decision then is. */
  decision: "direct" | "escalated";
  path?: string;
  /** Token ids of the prompt, asked over /v1/completions. */
  tokens?: boolean;
}

interface Wire {
  complete?: (body: JsonBody) => JsonBody;
  beforeStream?: ((body: JsonBody) => Promise<void>) | undefined;
  chunk?: (chunk: Chunk) => Chunk;
}

const prompt = `${"green rose, tree song, melon room, star drum. ".repeat(12)}tree?`;
const kvOf = (body: JsonBody) => (body.kv_transfer_params ?? {}) as JsonBody;

/** Every code of the enum, on a real gateway before the real engine: none is missing, and none fails a request. */
describe.runIf(hasPython())("every fallback code", () => {
  let real: RealEngine;
  let gateway: TestGateway;
  let client: EngineClient;
  /** Set by a case: what happens on the way between gateway and engine. */
  let wire: Wire = {};
  const undo: (() => void | Promise<void>)[] = [];
  let lines: Record<string, unknown>[] = [];

  beforeAll(async () => {
    real = await startRealEngine({ reverse: true, mappers: "random" });
    gateway = await startTestGateway({ socketPath: real.socketPath });
    gateway.resources.log = pino(
      { level: "info" },
      { write: (line: string) => lines.push(JSON.parse(line)) },
    );
    const found = gateway.resources.engine()?.client;
    if (!found) throw new Error("the engine serves");
    client = found;
    const { complete, stream } = client;
    client.complete = (endpoint, body, limits) =>
      complete.call(client, endpoint, wire.complete?.(body) ?? body, limits);
    client.stream = async (endpoint, body, limits) => {
      await wire.beforeStream?.(body);
      const chunks = await stream.call(client, endpoint, body, limits);
      const { chunk } = wire;
      return chunk ? changed(chunks, chunk) : chunks;
    };
  }, 240_000);
  afterAll(async () => {
    await gateway?.stop();
    await real?.stop();
  });
  beforeEach(async () => {
    for (const step of undo.splice(0)) await step();
    const { dials, resources } = gateway;
    dials.helmRefusal = null;
    dials.tenant = { ...dials.tenant, enabled: true };
    dials.pair.refusal = null;
    dials.pair.mapper_sha256 = real.mapperSha256;
    dials.readiness = { pair_id: dials.pair.id, state: "READY", min_tokens: 1 };
    dials.reverse = reversePair(real.reverseSha256);
    dials.route.judge = { version: "logprob-1", mean_logprob: 0, min_logprob: 0 };
    dials.route.streaming = "window";
    dials.route.max_switches = 4;
    resources.limits.transferMs = 20_000;
    wire = {};
    await client.loadMapper(real.mapperSha256);
  });

  const dials = () => gateway.dials;
  const turns = (what: () => object, to: object) => () => {
    Object.assign(what(), to);
  };
  const refusedPair = (code: FallbackReason) => ({
    turn: turns(() => dials().pair, { refusal: code }),
    decision: "direct" as const,
  });
  const refusedHere = (code: FallbackReason) => ({
    turn: turns(() => dials().readiness, { state: "REFUSED", code }),
    decision: "direct" as const,
  });

  const table: Record<FallbackReason, Provoked> = {
    HELM_OFF: { turn: turns(dials, { helmRefusal: "HELM_OFF" }), decision: "direct" },
    TELEMETRY_STALE: { turn: turns(dials, { helmRefusal: "TELEMETRY_STALE" }), decision: "direct" },
    HW_REFUSED: { turn: turns(dials, { helmRefusal: "HW_REFUSED" }), decision: "direct" },
    TENANT_OFF: {
      turn: turns(() => dials().tenant, { enabled: false }),
      decision: "direct",
    },
    NOT_CALIBRATED: refusedPair("NOT_CALIBRATED"),
    TRANSFER_INELIGIBLE: refusedPair("TRANSFER_INELIGIBLE"),
    NOT_ABOVE_PILOT: refusedPair("NOT_ABOVE_PILOT"),
    NOT_PLACED: refusedHere("NOT_PLACED"),
    NO_EVIDENCE: {
      // Our engine never leaves them out: they are lost on the wire.
      turn: () => {
        wire.chunk = (chunk) => ({
          ...chunk,
          choices: chunk.choices.map((choice) => ({ ...choice, logprobs: null })),
        });
      },
      decision: "escalated",
    },
    ARTIFACT_UNREADABLE: {
      turn: async () => {
        dials().pair.mapper_sha256 = await damagedMapper();
        // The engine finds out while it reads in the background; the first request is told that it is on its way.
        await ask({ messages: say(prompt) });
      },
      decision: "escalated",
    },
    MAPPER_NOT_RESIDENT: { turn: () => client.dropMapper(real.mapperSha256), decision: "escalated" },
    PAIR_MISMATCH: {
      turn: () => turns(() => dials().pair, { mapper_sha256: real.reverseSha256 })(),
      decision: "escalated",
    },
    BLOCK_TOO_SMALL: { turn: turns(() => dials().readiness, { min_tokens: null }), decision: "escalated" },
    STAGING_GONE: {
      // Somebody who saw the handle go by is faster, with a mark that he cannot have: the handle is burnt.
      turn: () => {
        wire.beforeStream = async (body) => {
          const kv = kvOf(body);
          if (!kv.mapper_sha256) return;
          wire.beforeStream = undefined;
          const thief = {
            ...body,
            stream: false,
            stream_options: undefined,
            max_tokens: 1,
            cache_salt: "thief",
          };
          const answer = await client.complete("/v1/chat/completions", {
            ...thief,
            kv_transfer_params: { ...kv, mac: "0".repeat(64), native_salt: "thief" },
          });
          expect(answer.kv_transfer_params).toMatchObject({ result: "fallback", reason: "STAGING_GONE" });
        };
      },
      decision: "escalated",
    },
    NO_MEMORY: {
      turn: async () => {
        const gate = gateway.resources.engine()?.gates.get("pilot");
        const all = await gate?.admit({ tenant: "x", bytes: gate.available, deadlineMs: 0 });
        if (all?.outcome !== "admitted") throw new Error("the pilot is free");
        undo.push(() => all.reservation.release());
      },
      decision: "escalated",
      path: "/v1/helm/escalate",
    },
    TIMEOUT: { turn: turns(() => gateway.resources.limits, { transferMs: 1 }), decision: "escalated" },
    TEMPLATE_MISMATCH: {
      // A pilot whose template begins otherwise than the target's.
      turn: () => {
        wire.complete = (body) =>
          kvOf(body).do_stage ? { ...body, prompt: [7, ...(body.prompt as number[])] } : body;
      },
      decision: "escalated",
      tokens: true,
    },
    DRIFT_LIMIT: { turn: turns(() => dials().route, { max_switches: 0 }), decision: "escalated" },
    ENGINE_ERROR: {
      // The engine refuses what names no mapper at all.
      turn: () => {
        dials().pair.mapper_sha256 = "not a digest";
        gateway.resources.limits.transferMs = 5_000;
      },
      decision: "escalated",
    },
  };

  it("has a case here", () => {
    expect(Object.keys(table).sort()).toEqual([...FallbackReason.options].sort());
  });

  it.each(FallbackReason.options)(
    "%s: served with the target's own answer, counted, told and traced",
    async (reason) => {
      const { turn, decision, path, tokens } = table[reason];
      const content = `${reason} ${prompt}`;
      const counted = await client.tokenize({ model: "target", prompt: content });
      const body = tokens ? { prompt: counted.tokens } : { messages: say(content) };
      const where = path ?? (tokens ? "/v1/completions" : "/v1/chat/completions");
      const native = tokens ? "/v1/completions" : "/v1/chat/completions";
      const alone = await ask({ ...body, model: "target" }, { path: native, key: otherKey });
      await turn();
      const before = await counts(reason);
      traces();
      lines = [];
      const answer = await ask(body, { path: where });
      expect(answer.headers).toMatchObject({
        "x-helm-served-by": "target",
        "x-helm-decision": decision,
        "x-helm-reason": reason,
        "x-helm-transfer": "fallback",
      });
      expect(answer.body.helm).toMatchObject({ decision, reason, transfer: "fallback", tokens_moved: null });
      expect(textOf(answer.body)).toBe(textOf(alone.body));
      const after = await counts(reason);
      expect(after.fallbacks - before.fallbacks).toBe(1);
      expect(after.alarms - before.alarms).toBe(reason === "NO_EVIDENCE" ? 1 : 0);
      expect(traces()).toMatchObject([
        { id: answer.headers["x-helm-trace-id"], kept: "fallback", decision, reason, transfer: "fallback" },
      ]);
      expect(lines.filter(({ msg }) => msg === "answered")).toMatchObject([{ reason, transfer: "fallback" }]);
      // What was staged and never fetched goes by itself, when its time is over.
      await expect
        .poll(async () => (await client.memory()).staging?.used_bytes, { timeout: 30_000, interval: 250 })
        .toBe(0);
    },
    60_000,
  );

  const say = (content: string) => [{ role: "user", content }];

  async function ask(body: object, options: { path?: string; key?: string } = {}) {
    const { path = "/v1/chat/completions", key = testKey } = options;
    const response = await fetch(gateway.origin + path, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ max_tokens: 12, temperature: 0, ...body }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here
    const json = (await response.json()) as any;
    expect([response.status, json.error]).toEqual([200, undefined]);
    return { headers: Object.fromEntries(response.headers), body: json };
  }

  // biome-ignore lint/suspicious/noExplicitAny: either endpoint's answer
  function textOf(body: any): string {
    return body.choices[0].message?.content ?? body.choices[0].text;
  }

  function traces(): RequestTrace[] {
    const { outbox } = gateway.resources.traces;
    const found: RequestTrace[] = [];
    for (let batch = outbox.report(); batch; batch = outbox.report()) {
      found.push(...batch.traces);
      outbox.sent(batch);
    }
    return found;
  }

  async function counts(reason: string) {
    const { metrics } = gateway.resources;
    const of = (values: { value: number; labels: Record<string, unknown> }[], label: string, value: string) =>
      values.filter(({ labels }) => labels[label] === value).reduce((sum, one) => sum + one.value, 0);
    return {
      fallbacks: of((await metrics.fallbacks.get()).values, "reason", reason),
      alarms: of((await metrics.alarms.get()).values, "code", "NO_EVIDENCE"),
    };
  }

  /** The pair's own mapper, one bit of it turned, under a name of its own. */
  async function damagedMapper(): Promise<string> {
    const name = "d".repeat(64);
    const folder = join(real.mapperDir, name);
    await cp(join(real.mapperDir, real.mapperSha256), folder, { recursive: true });
    const file = join(folder, MAPPER_FILE);
    const bytes = await readFile(file);
    bytes[bytes.length - 5] = (bytes[bytes.length - 5] ?? 0) ^ 1;
    await writeFile(file, bytes);
    return name;
  }
});

async function* changed(
  chunks: AsyncGenerator<Chunk>,
  change: (chunk: Chunk) => Chunk,
): AsyncGenerator<Chunk, void, undefined> {
  for await (const chunk of chunks) yield change(chunk);
}
