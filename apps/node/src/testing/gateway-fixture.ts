import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { type Script, ScriptedEngine, words } from "./scripted-engine";
import { startTestGateway, type TestGateway, testKey } from "./test-gateway";

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely in tests
  body: any;
}

/** Short where a test waits for a refusal, generous where a busy machine could be taken for a hanging engine. */
const limits = { reserveMs: 20, admissionMs: 60, maxBodyBytes: 4096 };

/** A gateway before a scripted engine, new for every test of a file; call it at the file's top. */
export class GatewayFixture {
  engine!: ScriptedEngine;
  gateway!: TestGateway;

  constructor() {
    beforeAll(async () => {
      this.engine = await ScriptedEngine.start();
    });
    afterAll(() => this.engine.stop());
    beforeEach(async () => {
      this.engine.script = () => ({ tokens: words("all is well") });
      this.engine.refusesToCount = null;
      this.gateway = await startTestGateway({ origin: this.engine.origin }, { limits });
      this.engine.calls.length = 0;
    });
    afterEach(() => this.gateway.stop());
  }

  async restart(options: Parameters<typeof startTestGateway>[1]): Promise<void> {
    await this.gateway.stop();
    this.gateway = await startTestGateway({ origin: this.engine.origin }, options);
  }

  async ask(
    body: unknown,
    path = "/v1/chat/completions",
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(this.gateway.origin + path, {
      method: "POST",
      headers: { authorization: `Bearer ${testKey}`, "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await response.text();
    const json = response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text;
    return { status: response.status, headers: response.headers, body: json };
  }

  /** The pilot is unsure; staging and transfer go well unless a test says otherwise. */
  unsure(over: Overrides = {}): void {
    this.engine.script = (body) => {
      const kv = body.kv_transfer_params as { do_stage?: boolean } | undefined;
      if (kv?.do_stage) return { tokens: words("x"), report: { result: "staged" }, ...over.stage };
      if (kv) {
        return {
          tokens: words("from the target"),
          report: { result: "transferred", reason: null, tokens_moved: 90, tail_tokens: 5, map_ms: 1 },
          ...over.transfer,
        };
      }
      if (body.model === "pilot") return { tokens: words("not so sure", -3) };
      return { tokens: words("from the target"), ...over.native };
    };
  }
}

export interface Overrides {
  stage?: Partial<Script>;
  transfer?: Partial<Script>;
  native?: Partial<Script>;
}

export const chat = (extra: object = {}) => ({
  messages: [{ role: "user", content: "one two three" }],
  ...extra,
});

/** Data lines of a stream, parsed; the end mark stays a string. */
export function events(text: string): (Record<string, unknown> | "[DONE]")[] {
  return text
    .split("\n\n")
    .filter((part) => part.startsWith("data: "))
    .map((part) => (part === "data: [DONE]" ? "[DONE]" : JSON.parse(part.slice(6))));
}

export function contentOf(part: Record<string, unknown> | "[DONE]"): string {
  if (part === "[DONE]") return "";
  const choices = part.choices as { delta?: { content?: string } }[];
  return choices[0]?.delta?.content ?? "";
}
