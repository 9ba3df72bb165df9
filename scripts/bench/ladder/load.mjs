import { Pool } from "undici";

const PATH = "/v1/chat/completions";
const PATIENCE_MS = 300_000;

/** One door for as many clients as there are, a connection for each. */
export class Door {
  constructor({ origin, socketPath, key }) {
    const limits = { connections: 4_096, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS };
    this.pool = socketPath ? new Pool("http://engine", { ...limits, socketPath }) : new Pool(origin, limits);
    this.headers = { "content-type": "application/json", ...(key ? { authorization: `Bearer ${key}` } : {}) };
  }

  /** One streamed answer: its text, or what stood in its way. Never rejects. */
  async ask(body, headers = {}) {
    const began = performance.now();
    try {
      const answer = await this.pool.request({
        method: "POST",
        path: PATH,
        headers: { ...this.headers, ...headers },
        body: JSON.stringify({ temperature: 0, stream: true, ...body }),
      });
      const text = await answer.body.text();
      const ms = performance.now() - began;
      if (answer.statusCode !== 200) return refusal(answer.statusCode, text, ms);
      return text.endsWith("data: [DONE]\n\n")
        ? { kind: "complete", text: contentOf(text), servedBy: answer.headers["x-helm-served-by"], ms }
        : { kind: "failed", why: "no end mark", ms };
    } catch (error) {
      return { kind: "failed", why: error.code ?? error.message, ms: performance.now() - began };
    }
  }

  close() {
    return this.pool.destroy();
  }
}

function refusal(status, text, ms) {
  let error = null;
  try {
    error = JSON.parse(text).error;
  } catch {
    // Untyped: it counts as failed.
  }
  if (![413, 429, 503].includes(status) || !error?.code)
    return { kind: "failed", why: `status ${status}`, ms };
  return { kind: "refused", code: error.code, helm: error.helm ?? null, ms };
}

function contentOf(stream) {
  let text = "";
  for (const line of stream.split("\n\n")) {
    if (!line.startsWith("data: {")) continue;
    const { choices } = JSON.parse(line.slice(6));
    text += choices[0]?.delta?.content ?? "";
  }
  return text;
}

/** What came of many answers: only complete and right ones count. `golden` knows what each model says when it is alone. */
export class Tally {
  constructor(golden) {
    this.golden = golden;
    this.counts = { correct: 0, corrupted: 0, refused: 0, failed: 0 };
    this.whys = new Map();
    this.served = new Map();
  }

  add(answer, prompt, model) {
    const by = answer.servedBy ?? model;
    const kind =
      answer.kind !== "complete"
        ? answer.kind
        : [this.golden[by]?.[prompt], this.golden[model]?.[prompt]].includes(answer.text)
          ? "correct"
          : "corrupted";
    this.counts[kind] += 1;
    if (kind === "correct") this.served.set(by, (this.served.get(by) ?? 0) + 1);
    else {
      const why = answer.code ?? answer.why ?? "another answer than alone";
      this.whys.set(why, (this.whys.get(why) ?? 0) + 1);
    }
  }
}

/** `clients` at once, one request each. */
export async function burst(door, { model, prompts, golden, maxTokens, clients }) {
  const tally = new Tally(golden);
  const began = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async (_, n) => {
      const prompt = n % prompts.length;
      tally.add(await door.ask({ model, messages: prompts[prompt], max_tokens: maxTokens }), prompt, model);
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  return {
    ...tally.counts,
    seconds,
    rate: tally.counts.correct / seconds,
    whys: tally.whys,
    served: tally.served,
  };
}

/** `clients` that ask again as soon as they were answered, for so long. */
export async function sustain(door, { model, prompts, golden, maxTokens, clients, seconds }) {
  const tally = new Tally(golden);
  const began = performance.now();
  const until = began + 1000 * seconds;
  let next = 0;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < until) {
        const prompt = next++ % prompts.length;
        tally.add(await door.ask({ model, messages: prompts[prompt], max_tokens: maxTokens }), prompt, model);
      }
    }),
  );
  const took = (performance.now() - began) / 1000;
  return { ...tally.counts, seconds: took, rate: tally.counts.correct / took, whys: tally.whys };
}
