import { z } from "zod";
import { INT32_MAX, text } from "./text";

const Share = z.number().min(0).max(1);

/** One turn of the conversation: who answers changes with every turn, up (source to target) first. */
export const DriftTurn = z.object({
  turn: z.number().int().min(1).max(1_000),
  direction: z.enum(["up", "down"]),
  retention: Share,
  buckets: z.object({ first: Share.nullish(), early: Share.nullish(), late: Share.nullish() }).nullish(),
  positions: z.number().int().min(0).max(INT32_MAX).nullish(),
  /** Conversations. */
  n: z.number().int().min(1).max(INT32_MAX),
});
export type DriftTurn = z.infer<typeof DriftTurn>;

const Turns = z
  .array(DriftTurn)
  .min(1)
  .max(200)
  .refine(
    (turns) =>
      turns.every(({ turn, direction }, at) => turn === at + 1 && direction === (at % 2 ? "down" : "up")),
    "turns count from 1 and go up and down by turns",
  );

/**
 * Retention turn by turn while two models answer by turns and the conversation's cache goes with every turn. `new`: only
 * rows that the answering model does not hold yet are mapped, as serving does; `all`: the whole conversation is mapped
 * anew at every switch.
 */
export const Drift = z.object({
  v: z.literal(1),
  type: z.literal("drift"),
  at: text(40),
  pair: z.object({ source: text(300), target: text(300) }),
  mapper_sha256: text(64),
  reverse_mapper_sha256: text(64),
  carries: z.object({ new: Turns, all: Turns.nullish() }),
  device: text(60),
  development: z.boolean(),
});
export type Drift = z.infer<typeof Drift>;
