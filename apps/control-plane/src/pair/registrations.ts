import { z } from "zod";
import type { Call } from "../context";
import { RegistrationOut, registrationOut } from "./registration";

export const ListRegistrationsInput = z.object({
  /** Default: what did not become a pair. */
  states: z.array(RegistrationOut.shape.state).default(["REFUSED", "FAILED", "PENDING"]),
  cursor: z.uuid().nullish(),
  limit: z.number().int().min(1).max(100).default(25),
});
export const ListRegistrationsOutput = z.object({
  rows: z.array(RegistrationOut),
  nextCursor: z.uuid().nullable(),
});

/** What was asked to be a pair, newest first, with every cause of a refusal; the audit has each decision too. */
export async function listRegistrations({ ctx, input }: Call<z.infer<typeof ListRegistrationsInput>>) {
  const found = await ctx.db.pairRegistration.findMany({
    where: { state: { in: input.states }, ...(input.cursor ? { id: { lt: input.cursor } } : {}) },
    orderBy: { id: "desc" },
    take: input.limit + 1,
  });
  const rows = found.slice(0, input.limit).map(registrationOut);
  return { rows, nextCursor: found.length > input.limit ? (rows.at(-1)?.id ?? null) : null };
}
