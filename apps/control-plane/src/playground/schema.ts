import {
  MOST_PLAYGROUND_PROMPT,
  MOST_PLAYGROUND_TOKENS,
  PlaygroundAnswer,
  PlaygroundState,
} from "@helm/contracts";
import { z } from "zod";

/** What was asked, as it is stored with its run. */
export const PlaygroundAsk = z.object({
  route: z.string().min(1).max(200),
  system: z.string().max(MOST_PLAYGROUND_PROMPT).nullable(),
  prompt: z.string().trim().min(1, "write a prompt").max(MOST_PLAYGROUND_PROMPT),
  maxTokens: z.number().int().min(1).max(MOST_PLAYGROUND_TOKENS),
});
export type PlaygroundAsk = z.infer<typeof PlaygroundAsk>;

export const PlaygroundRunOut = z.object({
  id: z.uuid(),
  node: z.object({ id: z.uuid(), name: z.string(), url: z.string().nullable() }),
  state: PlaygroundState,
  ask: PlaygroundAsk,
  /** In the order in which they came: routed, pilot, target. */
  answers: z.array(PlaygroundAnswer),
  error: z.string().nullable(),
  createdAt: z.date(),
  endedAt: z.date().nullable(),
  /** The text goes with the run. */
  expiresAt: z.date(),
});
export type PlaygroundRunOut = z.infer<typeof PlaygroundRunOut>;

export const RUN_KEPT_MS = 60 * 60_000;
