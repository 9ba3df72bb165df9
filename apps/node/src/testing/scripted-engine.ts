import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonBody } from "../engine/engine-client";

/** TEST DOUBLE. An engine that says what a test tells it to: only for failures a real engine cannot be asked for. */
export interface Script {
  /** `rival` is the log-probability of the next likeliest token, told where the two likeliest are asked for. */
  tokens: { text: string; logprob: number | null; rival?: number }[];
  /** An answer that is more than text: given as it is, whole or in these parts. */
  answer?: { message: JsonBody; deltas: JsonBody[]; finish: string };
  /** What the engine reports of staging or transfer. */
  report?: JsonBody;
  /** Whether the report comes with the first token, or only at the end. */
  reportLate?: boolean;
  /** Answers with this error instead. */
  refuse?: { status: number; body: JsonBody };
  /** Never answers. */
  hang?: boolean;
  /** Answers once this is over. */
  after?: Promise<unknown>;
  /** Breaks the connection after this many tokens. */
  dieAfter?: number;
  /** Milliseconds before each token. */
  pause?: number;
}

export interface RecordedCall {
  path: string;
  body: JsonBody;
  /** Set when the other side went away before the answer was whole. */
  aborted: boolean;
}

export class ScriptedEngine {
  readonly calls: RecordedCall[] = [];
  script: (body: JsonBody, path: string) => Script = () => ({ tokens: words("hello there friend") });
  budgetBytes = 1 << 20;
  /** Answers that it says it decodes side by side. */
  maxBatch: number | null = null;
  tellsMemory = true;
  /** A model whose template refuses every conversation. */
  refusesToCount: string | null = null;
  private readonly server: Server;

  private constructor(readonly models: string[]) {
    this.server = createServer((request, response) => {
      this.answer(request, response).catch(() => response.destroy());
    });
  }

  static async start(models = ["pilot", "target"]): Promise<ScriptedEngine> {
    const engine = new ScriptedEngine(models);
    await new Promise<void>((resolve) => engine.server.listen(0, "127.0.0.1", resolve));
    return engine;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Generating calls only. */
  get legs(): RecordedCall[] {
    return this.calls.filter((call) => call.path.endsWith("completions"));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "/";
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = parts.length > 0 ? (JSON.parse(Buffer.concat(parts).toString()) as JsonBody) : {};
    const call: RecordedCall = { path, body, aborted: false };
    this.calls.push(call);
    response.once("close", () => {
      if (!response.writableFinished) call.aborted = true;
    });
    if (path === "/health") return json(response, 200, {});
    if (path === "/v1/models")
      return json(response, 200, {
        data: this.models.map((id) => ({ id, object: "model", max_batch: this.maxBatch })),
      });
    if (path === "/helm/memory" && !this.tellsMemory) return json(response, 500, {});
    if (path === "/helm/memory") return json(response, 200, { models: this.memory() });
    if (path === "/tokenize") return this.tokenize(response, body);
    await this.generate(response, path, body);
  }

  private memory(): JsonBody {
    const each = { kv_bytes_per_token: 64, kv_block_tokens: 16, kv_budget_bytes: this.budgetBytes };
    return Object.fromEntries(this.models.map((id) => [id, each]));
  }

  private tokenize(response: ServerResponse, body: JsonBody): void {
    const messages = body.messages as { content: string }[] | undefined;
    const refused = messages?.some((message) => message.content === "refuse me");
    if (refused || (this.refusesToCount !== null && body.model === this.refusesToCount)) {
      noSuchRole(response);
      return;
    }
    const text = messages ? messages.map((message) => message.content).join(" ") : String(body.prompt);
    const tokens = text.split(/\s+/).map((word) => word.length);
    json(response, 200, { count: tokens.length, max_model_len: 4096, tokens });
  }

  private async generate(response: ServerResponse, path: string, body: JsonBody): Promise<void> {
    if (this.refusesToCount !== null && body.model === this.refusesToCount) return noSuchRole(response);
    const script = this.script(body, path);
    if (script.hang) return;
    await script.after;
    if (script.refuse) return json(response, script.refuse.status, script.refuse.body);
    const chat = path === "/v1/chat/completions";
    const model = String(body.model);
    if (body.stream !== true) {
      return json(response, 200, {
        id: "x",
        object: chat ? "chat.completion" : "text_completion",
        created: 1,
        model,
        choices: [wholeChoice(chat, script)],
        usage: usageOf(script),
        kv_transfer_params: script.report ?? null,
      });
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (extra: JsonBody) => {
      const chunk = {
        id: "x",
        object: chat ? "chat.completion.chunk" : "text_completion",
        created: 1,
        model,
        ...extra,
      };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    };
    const n = typeof body.n === "number" ? body.n : 1;
    for (const [at, part] of partsOf(script).entries()) {
      if (script.pause) await new Promise((resolve) => setTimeout(resolve, script.pause));
      if (script.dieAfter === at) {
        // What was written must be on its way before the connection breaks.
        await new Promise((resolve) => setTimeout(resolve, 20));
        response.destroy();
        return;
      }
      const last = at === partsOf(script).length - 1;
      const early =
        at === 0 && script.report && !script.reportLate ? { kv_transfer_params: script.report } : {};
      for (let index = 0; index < n; index++) {
        send({ choices: [chunkChoice(chat, index, part, last ? finishOf(script) : null, body)], ...early });
      }
    }
    if ((body.stream_options as JsonBody | undefined)?.include_usage === true)
      send({ choices: [], usage: usageOf(script), kv_transfer_params: script.report ?? null });
    response.end("data: [DONE]\n\n");
  }
}

function noSuchRole(response: ServerResponse): void {
  json(response, 400, {
    error: { message: "no such role", type: "invalid_request_error", param: "messages" },
  });
}

export function words(text: string, logprob: number | null = -0.1): Script["tokens"] {
  return text.split(/(?<= )/).map((part) => ({ text: part, logprob }));
}

/** What a streamed answer is made of: a token, or a part of an answer that is more than text. */
type Part = Script["tokens"][number] & { delta?: JsonBody };

function partsOf(script: Script): Part[] {
  return (
    script.answer?.deltas.map((delta) => ({ text: String(delta.content ?? ""), logprob: -0.1, delta })) ??
    script.tokens
  );
}

function finishOf(script: Script): string {
  return script.answer?.finish ?? "stop";
}

function chunkChoice(
  chat: boolean,
  index: number,
  token: Part,
  finish: string | null,
  body: JsonBody,
): JsonBody {
  const wanted = chat ? body.logprobs === true : typeof body.logprobs === "number";
  const asked = Number(chat ? body.top_logprobs : body.logprobs) || 0;
  const logprobs = !wanted || token.logprob === null ? null : oneLogprob(chat, token, token.logprob, asked);
  const text = chat ? { delta: token.delta ?? { content: token.text } } : { text: token.text };
  const ids = body.return_token_ids === true ? { token_ids: [idOf(token.text)] } : {};
  return { index, ...text, ...ids, logprobs, finish_reason: finish };
}

function idOf(text: string): number {
  return [...text].reduce((sum, letter) => sum * 31 + (letter.codePointAt(0) ?? 0), 7) % 100_003;
}

function oneLogprob(
  chat: boolean,
  token: Script["tokens"][number],
  logprob: number,
  asked: number,
): JsonBody {
  const told = token.rival === undefined ? 0 : asked;
  const top = [
    { token: token.text, logprob, bytes: null },
    { token: "rival", logprob: token.rival, bytes: null },
  ].slice(0, told);
  return chat
    ? { content: [{ token: token.text, logprob, bytes: null, top_logprobs: top }] }
    : {
        token_logprobs: [logprob],
        tokens: [token.text],
        top_logprobs: [Object.fromEntries(top.map((one) => [one.token, one.logprob]))],
      };
}

function wholeChoice(chat: boolean, script: Script): JsonBody {
  const text = script.tokens.map((token) => token.text).join("");
  const message = script.answer?.message ?? { role: "assistant", content: text };
  const answer = chat ? { message } : { text };
  return { index: 0, ...answer, logprobs: null, finish_reason: finishOf(script) };
}

function usageOf(script: Script): JsonBody {
  return {
    prompt_tokens: 3,
    completion_tokens: script.tokens.length,
    total_tokens: 3 + script.tokens.length,
  };
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
