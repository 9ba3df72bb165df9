import { MOST_TRACE_TEXT, mendText, type TraceText } from "@helm/contracts";
import type { Tenant } from "../config/access";
import type { Chunk } from "../engine/chunk";
import type { Generation } from "../gateway/bodies/generation";

/** Prompt and answer of one request, of a tenant that opted in; nothing of anybody else is ever kept. */
export class TextKeeper {
  private prompt: string | null = null;
  private answer = "";
  private cut = false;

  static for(tenant: Tenant, now: Date): TextKeeper | null {
    const until = tenant.trace_text_until;
    return until && new Date(until) > now ? new TextKeeper() : null;
  }

  asked(generation: Generation): void {
    const { messages, prompt } = generation.body;
    this.prompt = this.bound(messages ? tellMessages(messages) : tellPrompt(prompt));
  }

  /** Of n answers the first. */
  heard(chunk: Chunk): void {
    for (const choice of chunk.choices) {
      if (choice.index !== 0) continue;
      const said = choice.text ?? choice.delta?.content;
      if (typeof said === "string") this.answer = this.bound(this.answer + said);
    }
  }

  /** Another leg answers instead. */
  forget(): void {
    this.answer = "";
  }

  get text(): TraceText | null {
    if (this.prompt === null) return null;
    // What no database can hold would be refused with every other trace of its batch.
    return { prompt: mendText(this.prompt), answer: mendText(this.answer) || null, cut: this.cut };
  }

  private bound(text: string): string {
    if (text.length <= MOST_TRACE_TEXT) return text;
    this.cut = true;
    // Half a surrogate pair is no text that can be stored.
    return text.slice(0, MOST_TRACE_TEXT).replace(/[\uD800-\uDBFF]$/, "");
  }
}

function tellMessages(messages: unknown): string {
  if (!Array.isArray(messages)) return JSON.stringify(messages);
  return messages
    .map((message: { role?: unknown; content?: unknown } | null) => {
      const content = message?.content;
      const role = typeof message?.role === "string" ? message.role : JSON.stringify(message?.role);
      return `${role}: ${typeof content === "string" ? content : JSON.stringify(content ?? message)}`;
    })
    .join("\n\n");
}

function tellPrompt(prompt: unknown): string {
  return typeof prompt === "string" ? prompt : JSON.stringify(prompt ?? null);
}
