import { Agent, request } from "undici";
import { ESCALATED, KEPT } from "../scripts/lib/standalone-node.mjs";

const TEXT = "green rose, tree song, melon room, star drum. ";
/** Nothing of the product takes this long here: who is still without an end then hangs. */
const HANGS_MS = 120_000;

/** Every way a request can go, streamed and whole. */
export function mixOf(count, models = [KEPT, ESCALATED, "pilot", "target"]) {
  return Array.from({ length: count }, (_, i) => ({
    model: models[i % models.length],
    stream: Math.floor(i / models.length) % 2 === 0,
    messages: [{ role: "user", content: `${i}. ${TEXT.repeat(1 + (i % 5))}tree?` }],
    max_tokens: 48,
    ignore_eos: true,
    temperature: 0,
  }));
}

/** Requests that run at the same time, and what became of each: answered, typed, or cut with what had come by then. */
export class Load {
  begun = 0;
  /** Those of which at least one answer byte has come and the end has not. */
  underWay = 0;

  constructor(url, key) {
    this.url = url;
    this.headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    this.agent = new Agent({ connections: null, pipelining: 1 });
  }

  run(bodies) {
    return Promise.all(bodies.map((body) => this.one(body)));
  }

  async one(body) {
    let text = "";
    let status = null;
    let counted = false;
    try {
      const answer = await request(`${this.url}/v1/chat/completions`, {
        method: "POST",
        headers: this.headers,
        body: JSON.stringify(body),
        dispatcher: this.agent,
        signal: AbortSignal.timeout(HANGS_MS),
      });
      status = answer.statusCode;
      for await (const part of answer.body) {
        if (!counted) this.underWay += 1;
        counted = true;
        this.begun += text === "" ? 1 : 0;
        text += part;
      }
      return { body, status, text, what: judge(body, status, text) };
    } catch (error) {
      const what = error.name === "TimeoutError" ? "hangs" : "cut";
      return { body, status, text, what, error: error.code ?? error.message };
    } finally {
      if (counted) this.underWay -= 1;
    }
  }

  close() {
    return this.agent.destroy();
  }
}

function judge(body, status, text) {
  if (body.stream && status === 200) {
    const events = text
      .split("\n\n")
      .filter((part) => part.startsWith("data: "))
      .map((part) => part.slice(6));
    if (events.at(-1) === "[DONE]")
      return finishReasons(text) > 0 ? "answered" : "a stream ended with no reason";
    const last = parsed(events.at(-1));
    return last?.error?.code ? "typed" : "a stream stopped with nothing said";
  }
  const whole = parsed(text);
  if (status === 200) return whole?.choices?.[0]?.finish_reason ? "answered" : "a body that is no answer";
  if (!whole?.error?.code || !whole.error.message) return `${status} without a type`;
  // What is sent is right: who is told otherwise was not served.
  return status === 429 || status >= 500 ? "typed" : `${status} ${whole.error.code}`;
}

export function finishReasons(text) {
  return (text.match(/"finish_reason":\s*"[a-z_]+"/g) ?? []).length;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export function countBy(outcomes) {
  const counts = {};
  for (const { what } of outcomes) counts[what] = (counts[what] ?? 0) + 1;
  return counts;
}
