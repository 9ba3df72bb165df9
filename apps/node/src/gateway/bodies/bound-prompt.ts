import type { Generation } from "./generation";

/** What a chat template may add to its opening where there are tools, documents or options of its own. */
const EXTRAS_TOKENS = 512;
const TOKENS_A_MESSAGE = 16;
const TOKENS_A_TEXT = 8;

/**
 * Most tokens each prompt can come to, read off the body's bytes: a token stands for at least one byte of text.
 * Null where bytes bound nothing, as with pictures and texts for the template. An engine counts for itself, so a template that adds more than is
 * allowed for here makes a request wait there and harms nobody.
 */
export function boundPrompt(
  { endpoint, body, bytes }: Generation,
  template: number | undefined,
): readonly number[] | null {
  if (endpoint === "/v1/chat/completions") {
    const { messages } = body;
    if (bytes === null || template === undefined || !Array.isArray(messages) || !messages.every(isText))
      return null;
    if (!areSwitches(body.chat_template_kwargs)) return null;
    const extras = body.tools || body.documents || body.chat_template_kwargs ? EXTRAS_TOKENS : 0;
    // A template writes numbers out: 1e20 came in four bytes and is read in twenty-one.
    const written = body.tools || body.documents ? Buffer.byteLength(JSON.stringify(body)) : 0;
    return [Math.max(bytes, written) + template + extras + TOKENS_A_MESSAGE * messages.length];
  }
  const { prompt } = body;
  return typeof prompt === "string" ? [Buffer.byteLength(prompt) + TOKENS_A_TEXT] : null;
}

/** A template may write a text of its options once for every message; of switches it writes its own words. */
function areSwitches(options: unknown): boolean {
  if (typeof options !== "object" || options === null) return options === undefined || options === null;
  return Object.values(options).every((value) => typeof value === "boolean" || value === null);
}

function isText(message: unknown): boolean {
  const content = (message as { content?: unknown } | null)?.content;
  if (!Array.isArray(content)) return true;
  return content.every((part) => (part as { type?: unknown } | null)?.type === "text");
}
