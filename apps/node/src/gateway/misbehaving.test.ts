import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { JsonBody } from "../engine/engine-client";
import { type EngineLoad, readEngineLoad } from "../testing/engine-load";
import { RawClient } from "../testing/raw-client";
import { hasPython, type RealEngine, startRealEngine } from "../testing/real-engine";
import { startTestGateway, type TestGateway, testKey } from "../testing/test-gateway";

const MIB = 1 << 20;
const IDLE: EngineLoad = { running: 0, waiting: 0, kvUsedBytes: 0, stagedBytes: 0 };
const say = (content: string) => [{ role: "user", content }];
const long = `${"green rose, tree song, melon room, star drum. ".repeat(20)}tree?`;
/** Runs until somebody ends it, or for a long time. */
const endless = { messages: say(long), max_tokens: 1500, ignore_eos: true, temperature: 0 };
const soon = { timeout: 30_000 };

describe.runIf(hasPython())("clients that do not behave, before the reference engine", () => {
  let real: RealEngine;
  let gateway: TestGateway;
  /** Waits for no client for long. */
  let strict: TestGateway;

  beforeAll(async () => {
    real = await startRealEngine();
    gateway = await startTestGateway({ socketPath: real.socketPath });
    strict = await startTestGateway(
      { socketPath: real.socketPath },
      { limits: { headersMs: 300, bodyMs: 300, allBodiesBytes: 2 * MIB } },
    );
    for (const { dials } of [gateway, strict]) dials.pair.mapper_sha256 = real.mapperSha256;
  }, 240_000);
  afterAll(async () => {
    await gateway?.stop();
    await strict?.stop();
    await real?.stop();
  });

  /** Nothing is left anywhere, and the next request is served. */
  afterEach(async () => {
    for (const one of [gateway, strict]) {
      await expect.poll(() => leftIn(one), soon).toEqual({ reserved: 0, waiting: 0, bodies: 0, running: 0 });
    }
    await expect.poll(() => readEngineLoad(real), soon).toEqual(IDLE);
    const next = await post(gateway, { model: "pilot", messages: say("king door. king?"), max_tokens: 4 });
    expect(next.status).toBe(200);
    await next.text();
  });

  describe("on the wire", () => {
    it("ends a connection on which nothing is ever said, with a typed answer", async () => {
      const client = await RawClient.open(strict.origin);
      await client.closed;
      expect([client.status, client.code]).toEqual([408, "request_timeout"]);
    });

    it("answers what is no HTTP, and a head without end", async () => {
      const noise = await RawClient.open(strict.origin);
      await noise.send("\u0000\u0001 what is this\r\n\r\n");
      await noise.closed;
      expect([noise.status, noise.code]).toEqual([400, "invalid_http"]);
      const wide = await RawClient.open(strict.origin);
      await wide.send(`GET /health HTTP/1.1\r\nhost: gateway\r\nx-long: ${"x".repeat(64 * 1024)}\r\n\r\n`);
      await wide.closed;
      expect([wide.status, wide.code]).toEqual([431, "headers_too_large"]);
    });

    it("refuses a body that stops in the middle, and one that trickles", async () => {
      const half = await RawClient.open(strict.origin);
      half.head(1000);
      await half.send('{"messages": [{"role": "user", "conte');
      await half.closed;
      expect([half.status, half.code]).toEqual([408, "body_timeout"]);
      const trickle = await RawClient.open(strict.origin);
      trickle.head(1_000_000);
      while (trickle.answer === "" && (await trickle.send(" "))) await pause(20);
      await expect.poll(() => trickle.status, soon).toBe(408);
      expect(trickle.code).toBe("body_timeout");
      trickle.leave();
    });

    it("tells who sends 100 MiB that it is too much, and holds none of it", async () => {
      const part = Buffer.alloc(MIB, 32);
      const before = process.memoryUsage().arrayBuffers;
      let [held, most] = [0, 0];
      const send = async (declared: boolean) => {
        const client = await RawClient.open(gateway.origin);
        if (declared) client.head(100 * MIB);
        else await client.send(chunkedHead());
        for (let n = 0; n < 100; n++) {
          if (!declared) await client.send(`${part.length.toString(16)}\r\n`);
          if (!(await client.send(part))) break;
          if (!declared) await client.send("\r\n");
          held = Math.max(held, gateway.bodyBytes());
          most = Math.max(most, process.memoryUsage().arrayBuffers - before);
        }
        await expect.poll(() => client.status, soon).toBe(413);
        expect(client.code).toBe("body_too_large");
        client.leave();
      };
      await Promise.all([send(true), send(true), send(false), send(false)]);
      expect(held).toBeLessThanOrEqual(2 * gateway.resources.limits.maxBodyBytes);
      expect(most).toBeLessThan(64 * MIB);
    });

    it("bounds what all half-sent bodies hold together", async () => {
      const clients = await Promise.all(Array.from({ length: 8 }, () => RawClient.open(strict.origin)));
      for (const client of clients) {
        client.head(MIB);
        await client.send(Buffer.alloc(MIB - 1, 32));
      }
      await Promise.all(clients.map((client) => expect.poll(() => client.status, soon).toBeGreaterThan(0)));
      expect(clients.map(({ status, code }) => `${status} ${code}`)).toContain("503 no_capacity");
      for (const client of clients) client.leave();
    });
  });

  it.each([
    ["pilot", { max_tokens: 1_000_000_000 }, [413, "never_fits"]],
    ["helm-auto", { max_tokens: 1_000_000_000 }, [413, "never_fits"]],
    ["pilot", { max_tokens: 1_000_000_001 }, [400, "invalid_value"]],
    ["pilot", { max_tokens: 1e300 }, [400, "invalid_value"]],
    ["pilot", { n: 64, max_tokens: 1_000_000_000 }, [413, "never_fits"]],
    ["pilot", { n: 128 }, [400, "invalid_value"]],
    ["pilot", { n: 1_000_000_000 }, [400, "invalid_value"]],
  ])("refuses %s with %o by its number, and starts nothing", async (model, extra, expected) => {
    const answer = await post(gateway, { model, messages: say("king?"), ...extra });
    const { error } = (await answer.json()) as { error: { code: string } };
    expect([answer.status, error.code]).toEqual(expected);
  });

  describe("leaving", () => {
    it("while the body is on its way", async () => {
      const client = await RawClient.open(gateway.origin);
      client.head(500_000);
      await client.send(Buffer.alloc(250_000, 32));
      await expect.poll(() => gateway.bodyBytes(), soon).toBeGreaterThan(0);
      client.leave();
    });

    it("while it waits for its turn, and nobody else waits for it", async () => {
      const gate = gateOf("pilot");
      const full = await gate.admit({ tenant: "x", bytes: gate.capacity, deadlineMs: 0 });
      const left = await leave(endless, () => expect.poll(() => gate.waiting, soon).toBe(1));
      expect(left).toBe("left");
      await expect.poll(() => gate.waiting, soon).toBe(0);
      if (full.outcome === "admitted") full.reservation.release();
    });

    it.each([
      ["its prompt is counted", {}, (call: Call) => call.kind === "tokenize"],
      ["the pilot is asked", {}, (call: Call) => call.kind === "stream" && call.body.model === "pilot"],
      ["the judge holds the answer back", { buffer: true }, (call: Call) => call.kind === "chunk"],
      ["the cache is staged", { unsure: true }, (call: Call) => transferOf(call)?.do_stage === true],
      ["the cache goes across", { unsure: true }, (call: Call) => transferOf(call)?.source_model === "pilot"],
      [
        "the target reads the prompt itself",
        { unsure: true, native: true },
        (call: Call) => call.kind === "stream" && call.body.model === "target",
      ],
    ] as [string, Ways, (call: Call) => boolean][])("while %s", async (_, ways, at) => {
      const { dials } = gateway;
      dials.route.streaming = ways.buffer ? "buffer" : "window";
      const bound = ways.unsure ? 0 : -500;
      dials.route.judge = { version: "logprob-1", mean_logprob: bound, min_logprob: bound };
      dials.readiness.min_tokens = ways.native ? null : 1;
      const left = await leave(endless, (reached) => reached(at));
      expect(left).toBe("left");
    });

    it.each(["helm-auto", "pilot", "target"])("while %s streams its answer", async (model) => {
      const { route } = gateway.dials;
      route.streaming = "window";
      route.judge = { version: "logprob-1", mean_logprob: -500, min_logprob: -500 };
      const controller = new AbortController();
      const answer = await post(gateway, { ...endless, model, stream: true }, controller.signal);
      const reader = answer.body?.getReader();
      for (let n = 0; n < 3; n++) await reader?.read();
      expect((await readEngineLoad(real)).running).toBe(1);
      controller.abort();
    });

    it("at moments nobody chose", async () => {
      gateway.dials.route.judge = { version: "logprob-1", mean_logprob: 0, min_logprob: 0 };
      gateway.dials.readiness.min_tokens = 1;
      await Promise.all(
        Array.from({ length: 48 }, async (_, n) => {
          const controller = new AbortController();
          setTimeout(() => controller.abort(), 8 * n);
          const body = { ...endless, max_tokens: 64, stream: n % 2 === 0 };
          await post(gateway, body, controller.signal)
            .then((answer) => answer.text())
            .catch(() => {});
        }),
      );
    });
  });

  interface Ways {
    buffer?: boolean;
    unsure?: boolean;
    native?: boolean;
  }

  /** What the gateway asks of its engine, and the first piece of an answer. */
  interface Call {
    kind: "tokenize" | "stream" | "complete" | "chunk";
    body: JsonBody;
  }

  function transferOf(call: Call): JsonBody | null {
    return (call.body.kv_transfer_params as JsonBody | undefined) ?? null;
  }

  function gateOf(model: string) {
    const gate = gateway.resources.engine()?.gates.get(model);
    if (!gate) throw new Error(`${model} is measured`);
    return gate;
  }

  function leftIn(one: TestGateway) {
    const gates = [...(one.resources.engine()?.gates.values() ?? [])];
    return {
      reserved: gates.reduce((all, gate) => all + gate.reserved, 0),
      waiting: gates.reduce((all, gate) => all + gate.waiting, 0),
      bodies: one.bodyBytes(),
      running: one.serving.report().running,
    };
  }

  function post(one: TestGateway, body: object, signal?: AbortSignal): Promise<Response> {
    return fetch(`${one.origin}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${testKey}` },
      body: JSON.stringify(body),
      signal,
    });
  }

  /** Sends a request, leaves when it has come as far as `until` says, and tells whether it was still under way then. */
  async function leave(
    body: object,
    until: (reached: (at: (call: Call) => boolean) => Promise<void>) => Promise<unknown>,
  ): Promise<"left" | "answered"> {
    const controller = new AbortController();
    const seen = watchCalls();
    const asked = post(gateway, body, controller.signal).then(
      () => "answered" as const,
      () => "left" as const,
    );
    try {
      await until(seen.reached);
      controller.abort();
      return await asked;
    } finally {
      seen.stop();
    }
  }

  /** Looks on at the gateway's own client of the real engine; what is asked goes there as it is. */
  function watchCalls() {
    const client = gateway.resources.engine()?.client;
    if (!client) throw new Error("the engine serves");
    const { tokenize, stream, complete } = client;
    let [tell, wanted]: [() => void, (call: Call) => boolean] = [() => {}, () => false];
    const note = (call: Call) => {
      if (wanted(call)) tell();
    };
    client.tokenize = (body, limits) => {
      const answer = tokenize.call(client, body, limits);
      note({ kind: "tokenize", body });
      return answer;
    };
    client.complete = (endpoint, body, limits) => {
      const answer = complete.call(client, endpoint, body, limits);
      note({ kind: "complete", body });
      return answer;
    };
    client.stream = async (endpoint, body, limits) => {
      const asked = stream.call(client, endpoint, body, limits);
      note({ kind: "stream", body });
      const chunks = await asked;
      return (async function* () {
        for await (const chunk of chunks) {
          note({ kind: "chunk", body });
          yield chunk;
        }
      })();
    };
    return {
      reached: (at: (call: Call) => boolean) =>
        new Promise<void>((resolve) => {
          [tell, wanted] = [resolve, at];
        }),
      stop: () => Object.assign(client, { tokenize, stream, complete }),
    };
  }

  function chunkedHead(): string {
    const lines = [
      "POST /v1/chat/completions HTTP/1.1",
      "host: gateway",
      `authorization: Bearer ${testKey}`,
      "transfer-encoding: chunked",
    ];
    return `${lines.join("\r\n")}\r\n\r\n`;
  }
});
