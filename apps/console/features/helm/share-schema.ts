import { z } from "zod";

const chance = z.coerce.number<number>("A number.").min(0, "At least 0.").max(1, "At most 1.");

/** How often a conversation's cache may move, and with which probabilities a request is also answered another way. */
export const ShareShape = {
  maxSwitches: z.coerce
    .number<number>("A number.")
    .int("A whole number.")
    .min(0, "At least 0.")
    .max(10_000, "At most 10,000."),
  shareKept: chance,
  shareEscalated: chance,
  shareForced: chance,
};

export type ShareField = "shareKept" | "shareEscalated" | "shareForced";
