import { Pool } from "undici";

/** One door that requests are sent to: the engine's socket, a gateway, a proxy. */
export class Door {
  constructor({ origin, socketPath, key = null, base = "" }) {
    const limits = { connections: 256, headersTimeout: 120_000, bodyTimeout: 120_000 };
    this.pool = socketPath ? new Pool("http://engine", { ...limits, socketPath }) : new Pool(origin, limits);
    this.base = base;
    this.headers = { "content-type": "application/json", ...(key ? { authorization: `Bearer ${key}` } : {}) };
  }

  /** Sends a body and reads the whole answer. Errors: an answer other than 200, with its words. */
  async ask(path, body) {
    const from = performance.now();
    const answer = await this.pool.request({
      method: "POST",
      path: this.base + path,
      headers: this.headers,
      body: JSON.stringify(body),
    });
    let firstMs = null;
    let text = "";
    for await (const part of answer.body) {
      const piece = part.toString();
      // The opening chunk of a chat holds the role and nothing of the answer.
      if (firstMs === null && (!body.stream || carriesToken(piece))) firstMs = performance.now() - from;
      text += piece;
    }
    const totalMs = performance.now() - from;
    if (answer.statusCode !== 200)
      throw new Error(`${path} answered ${answer.statusCode}: ${text.slice(0, 400)}`);
    return { firstMs, totalMs, text, headers: answer.headers };
  }

  close() {
    return this.pool.destroy();
  }
}

function carriesToken(piece) {
  return /"(?:content|text)":\s*"[^"]/.test(piece) || /"finish_reason":\s*"/.test(piece);
}
