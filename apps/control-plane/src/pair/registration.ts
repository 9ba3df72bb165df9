import { HelmError, PairCause } from "@helm/contracts";
import type { PairRegistration } from "@helm/db";
import { z } from "zod";
import type { Call } from "../context";

export const CauseOut = z.object({
  cause: PairCause,
  model: z.enum(["source", "target", "both"]),
  sentence: z.string(),
});

export const RegistrationInput = z.object({ id: z.uuid() });
export const RegistrationOut = z.object({
  id: z.uuid(),
  sourceModel: z.string(),
  targetModel: z.string(),
  /** FAILED: a worker could not read a model; REFUSED: both were read and the pair is impossible. */
  state: z.enum(["PENDING", "REGISTERED", "REFUSED", "FAILED"]),
  causes: z.array(CauseOut),
  message: z.string().nullable(),
  pairId: z.uuid().nullable(),
  requestedBy: z.string(),
  createdAt: z.date(),
  decidedAt: z.date().nullable(),
});

export async function getRegistration({ ctx, input }: Call<z.infer<typeof RegistrationInput>>) {
  const row = await ctx.db.pairRegistration.findUnique({ where: { id: input.id } });
  if (!row) throw new HelmError("NOT_FOUND", "There is no such registration.");
  return registrationOut(row);
}

export function registrationOut(row: PairRegistration): z.infer<typeof RegistrationOut> {
  const { id, sourceModel, targetModel, state, message, pairId, requestedBy, createdAt, decidedAt } = row;
  const causes = z.array(CauseOut).parse(row.causes);
  return { id, sourceModel, targetModel, state, causes, message, pairId, requestedBy, createdAt, decidedAt };
}
