import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "undici";
import { afterEach, expect, it } from "vitest";
import { type ByteSink, passThrough } from "./pass-through";

let server: Server | null = null;
let pool: Pool | null = null;

async function before(listener: RequestListener, options: Pool.Options = {}) {
  server = createServer(listener);
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, options);
  return pool;
}

afterEach(async () => {
  await pool?.destroy();
  server?.closeAllConnections();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(null)));
});

/** Takes pieces one at a time: after each it wants no more for a moment. */
class SlowSink implements ByteSink {
  parts: Buffer[] = [];
  answer: unknown[] = [];
  busy = 0;

  start(...answer: unknown[]): void {
    this.answer = answer;
  }

  write(part: Uint8Array): boolean {
    this.busy += 1;
    this.parts.push(Buffer.from(part));
    return false;
  }

  async drained(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
  }

  get text(): string {
    return Buffer.concat(this.parts).toString();
  }
}

const get = { method: "GET", path: "/" } as const;

it("carries an answer byte for byte at the sink's pace, an error's too", async () => {
  const whole = Array.from({ length: 400 }, (_, i) => `piece ${i};`.repeat(500));
  const from = await before((_request, response) => {
    response.writeHead(418, { "content-type": "text/event-stream" });
    for (const piece of whole) response.write(piece);
    response.end();
  });
  const sink = new SlowSink();
  await passThrough(from, get, sink, new AbortController().signal);
  expect(sink.answer).toEqual([418, "text/event-stream", null]);
  expect(sink.text).toBe(whole.join(""));
  expect(sink.busy).toBeGreaterThan(1);
});

it("ends with an aborted error and stops the engine when it is given up, also in line for a connection", async () => {
  let gone = 0;
  const from = await before(
    (_request, response) => {
      response.once("close", () => {
        gone += 1;
      });
      response.write("begun");
    },
    { connections: 1 },
  );
  const [first, second] = [new AbortController(), new AbortController()];
  const sink = new SlowSink();
  const running = passThrough(from, get, sink, first.signal);
  const inLine = passThrough(from, get, new SlowSink(), second.signal);
  const refusedInLine = expect(inLine).rejects.toMatchObject({ failure: { kind: "aborted" } });
  second.abort();
  await refusedInLine;
  await expect.poll(() => sink.text).toBe("begun");
  const refused = expect(running).rejects.toMatchObject({ failure: { kind: "aborted" } });
  first.abort();
  await refused;
  await expect.poll(() => gone).toBe(1);
  const late = new AbortController();
  late.abort();
  await expect(passThrough(from, get, sink, late.signal)).rejects.toMatchObject({
    failure: { kind: "aborted" },
  });
});

it("tells an engine that broke its answer off from one that cannot be reached", async () => {
  const from = await before((_request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("begun", () => response.destroy());
  });
  const { signal } = new AbortController();
  await expect(passThrough(from, get, new SlowSink(), signal)).rejects.toMatchObject({
    failure: { kind: "broken" },
  });
  const nobody = new Pool("http://127.0.0.1:9");
  await expect(passThrough(nobody, get, new SlowSink(), signal)).rejects.toMatchObject({
    failure: { kind: "unreachable" },
  });
  await nobody.destroy();
});

it("gives the engine up where the sink's reader has gone", async () => {
  const from = await before((_request, response) => {
    response.write("x");
  });
  class GoneSink extends SlowSink {
    override drained(): Promise<void> {
      return Promise.reject(new Error("nobody reads"));
    }
  }
  await expect(passThrough(from, get, new GoneSink(), new AbortController().signal)).rejects.toMatchObject({
    name: "EngineError",
  });
});
