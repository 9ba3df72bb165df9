import { StreamingMode } from "@helm/contracts";
import { z } from "zod";

/** A whole number of at least 1, typed or given. */
export const wholeNumber = (most: number) =>
  z.coerce
    .number<number>("A number.")
    .int("A whole number.")
    .min(1, "At least 1.")
    .max(most, `At most ${most.toLocaleString("en")}.`);

const logprob = z.coerce.number<number>("A number.").min(-100, "At least -100.").max(0, "At most 0.");

/** How a route judges the pilot's answer, and how much of it has left by then. */
export const JudgeShape = {
  meanLogprob: logprob,
  minLogprob: logprob,
  streaming: StreamingMode,
  window: wholeNumber(4096),
};

/** Empty is tried first: coerced, it would be the number 0. Forms show its message, which is the schema's own. */
export const orEmpty = <T extends z.ZodType>(schema: T) => {
  const error = ({ input }: { input?: unknown }) => schema.safeParse(input).error?.issues[0]?.message;
  return z.union([z.literal("", { error }).transform(() => null), schema]);
};

/** The same fields where each may be left to the route. */
export const JudgeOverridesShape = {
  meanLogprob: orEmpty(JudgeShape.meanLogprob),
  minLogprob: orEmpty(JudgeShape.minLogprob),
  streaming: orEmpty(JudgeShape.streaming),
  window: orEmpty(JudgeShape.window),
};

export type JudgeField = keyof typeof JudgeShape;
