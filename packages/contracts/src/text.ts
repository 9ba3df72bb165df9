import { z } from "zod";

/** The largest whole number that a column of counts holds. */
export const INT32_MAX = 2_147_483_647;

export const Int32 = z
  .number()
  .int()
  .min(-INT32_MAX - 1)
  .max(INT32_MAX);

/** JSON can write a NUL and half of a surrogate pair; a database's text can hold neither. */
export function isStorable(text: string): boolean {
  return !text.includes("\u0000") && !/\p{Surrogate}/u.test(text);
}

/** The same text with U+FFFD for what cannot be stored. */
export function mendText(text: string): string {
  return text.replaceAll("\u0000", "\ufffd").replace(/\p{Surrogate}/gu, "\ufffd");
}

export function text(max: number) {
  return z.string().max(max).refine(isStorable, UNSTORABLE);
}

export const UNSTORABLE = "cannot be stored: it holds a NUL, half of a character, or is no plain JSON";

const DEEPEST = 64;

/** The path of the first text, key or value, that cannot be stored; null where all can. Deep values need no stack. */
export function findUnstorable(value: unknown): string | null {
  const waiting: { at: string; value: unknown; depth: number }[] = [{ at: "", value, depth: 0 }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { at, value: found, depth } = next;
    if (typeof found === "string" && !isStorable(found)) return at || "input";
    if (typeof found !== "object" || found === null) continue;
    // Bytes are no JSON, and what is nested without end is nothing that we ever ask for.
    if (ArrayBuffer.isView(found) || depth > DEEPEST) return at || "input";
    for (const [key, inner] of Object.entries(found)) {
      const path = at ? `${at}.${mendText(key)}` : mendText(key);
      if (!isStorable(key)) return path;
      waiting.push({ at: path, value: inner, depth: depth + 1 });
    }
  }
  return null;
}
