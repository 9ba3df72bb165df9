import { z } from "zod";
import { Decision } from "./states";

export const MOST_PLAYGROUND_PROMPT = 20_000;
export const MOST_PLAYGROUND_TOKENS = 512;
/** Of one answer; what is longer is cut. */
export const MOST_PLAYGROUND_ANSWER = 16_384;

/** The two models asked by name, and the route as any caller asks it. */
export const PlaygroundSide = z.enum(["pilot", "target", "routed"]);
export type PlaygroundSide = z.infer<typeof PlaygroundSide>;

/** Socket.IO /nodes: server emits "playground" (one side at a time) with ack PlaygroundReply, and "playground-cancel" {id}. */
export const PlaygroundOrder = z.object({
  id: z.uuid(),
  side: PlaygroundSide,
  route: z.string().max(200),
  system: z.string().max(MOST_PLAYGROUND_PROMPT).nullable(),
  prompt: z.string().min(1).max(MOST_PLAYGROUND_PROMPT),
  max_tokens: z.number().int().min(1).max(MOST_PLAYGROUND_TOKENS),
  deadline_ms: z.number().int().min(1).max(600_000),
});
export type PlaygroundOrder = z.infer<typeof PlaygroundOrder>;

const ms = z.number().min(0);

/** One side as its caller sees it: the gateway's status, headers and text. */
export const PlaygroundAnswer = z.object({
  side: PlaygroundSide,
  status: z.number().int(),
  /** Why there is no answer, in the gateway's words. */
  error: z.object({ code: z.string().max(200), message: z.string().max(2_000) }).nullable(),
  text: z.string().max(MOST_PLAYGROUND_ANSWER),
  cut: z.boolean(),
  model: z.string().max(200).nullable(),
  decision: Decision.nullable(),
  reason: z.string().max(200).nullable(),
  transfer: z.string().max(40).nullable(),
  trace_id: z.string().max(64).nullable(),
  prompt_tokens: z.number().int().nullable(),
  completion_tokens: z.number().int().nullable(),
  tokens_moved: z.number().int().nullable(),
  first_token_ms: ms.nullable(),
  total_ms: ms,
});
export type PlaygroundAnswer = z.infer<typeof PlaygroundAnswer>;

export const PlaygroundReply = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), answer: PlaygroundAnswer }),
  z.object({ ok: z.literal(false), code: z.string().max(80), message: z.string().max(2_000) }),
]);
export type PlaygroundReply = z.infer<typeof PlaygroundReply>;

export const PlaygroundState = z.enum(["RUNNING", "DONE", "FAILED", "CANCELLED"]);
export type PlaygroundState = z.infer<typeof PlaygroundState>;
