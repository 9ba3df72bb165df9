import type { EvidenceToken } from "./evidence";

/** Models of the supported families write these marks as one token each. */
const THINKING = { open: "<think>", close: "</think>" };
const TOOL_CALL = { open: "<tool_call>", close: "</tool_call>" };
/** What every call is written with, whatever it asks for. */
const BOILERPLATE = /^[\s{}[\]":,]*$|^"?(name|arguments|parameters|type|function)"?:?$/;

/**
 * Tells which tokens of one answer say something of it, one after another: thinking is no answer, and the braces and
 * field names of a tool call are the same in every call. Marks count where the engine has no parser of its own.
 */
export class CountableTokens {
  private inside: "thinking" | "tool_call" | null = null;

  counts(token: EvidenceToken): boolean {
    const text = token.text.trim();
    if (text === THINKING.open || text === TOOL_CALL.open) {
      this.inside = text === THINKING.open ? "thinking" : "tool_call";
      return false;
    }
    if (text === THINKING.close || text === TOOL_CALL.close) {
      this.inside = null;
      return false;
    }
    const part = token.part === "answer" ? (this.inside ?? "answer") : token.part;
    return part === "answer" || (part === "tool_call" && !BOILERPLATE.test(text));
  }
}
