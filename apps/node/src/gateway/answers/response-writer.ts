import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { EngineError } from "../../engine/engine-error";

/** Writes to a client at the client's pace; one that stops reading for `stallMs` is treated as gone. */
export class ResponseWriter {
  constructor(
    private readonly response: ServerResponse,
    private readonly stallMs: number,
  ) {}

  private streams = false;

  get started(): boolean {
    return this.response.headersSent;
  }

  start(status: number, headers: Record<string, string>): void {
    this.streams = headers["content-type"]?.startsWith("text/event-stream") === true;
    this.response.writeHead(status, headers);
  }

  async write(data: string | Uint8Array): Promise<void> {
    if (this.response.destroyed) throw gone();
    if (!this.push(data)) await this.drained();
  }

  /** Writes and says whether the client keeps up; where it does not, `drained` is to be awaited before the next. */
  push(data: string | Uint8Array): boolean {
    return this.response.write(data);
  }

  async drained(): Promise<void> {
    if (this.response.destroyed) throw gone();
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, AbortSignal.timeout(this.stallMs)]);
    // A client that leaves while it is waited for drains nothing any more: it only closes.
    const either = ["drain", "close"].map((event) => once(this.response, event, { signal }));
    try {
      await Promise.race(either);
    } catch (cause) {
      this.response.destroy();
      throw gone(cause);
    } finally {
      over.abort();
    }
    if (this.response.destroyed) throw gone();
  }

  end(data?: string): void {
    this.response.end(data);
  }

  /** Where the connection is closed afterwards, `before` is awaited between the last byte and that. */
  async json(
    status: number,
    headers: Record<string, string>,
    body: unknown,
    before: (() => Promise<void>) | null = null,
  ): Promise<void> {
    const text = JSON.stringify(body);
    this.start(status, {
      ...headers,
      "content-type": "application/json; charset=utf-8",
      "content-length": String(Buffer.byteLength(text)),
    });
    if (before === null) return this.end(text);
    this.response.write(text);
    await before();
    this.end();
  }

  /** An answer under way broke: a stream says so and has no end mark, a body is cut off so as not to look whole. */
  async breakOff(body: unknown): Promise<void> {
    if (!this.streams) {
      this.response.destroy();
      return;
    }
    await this.write(`data: ${JSON.stringify(body)}\n\n`).catch(() => {});
    this.end();
  }
}

function gone(cause?: unknown): EngineError {
  return new EngineError({ kind: "aborted" }, "the client went away", { cause });
}

export const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};
