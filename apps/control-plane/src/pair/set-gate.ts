import { HelmError } from "@helm/contracts";
import { z } from "zod";
import type { Call } from "../context";
import { changeRow } from "../revision/change-row";
import { getPair, type PairOut } from "./list";

export const SetPairGateInput = z.object({
  id: z.uuid(),
  /** Null: the server's gate holds. */
  gate: z.number().gt(0).max(1).nullable(),
  revision: z.number().int(),
});

/** A gate of the pair's own, for runs that finish from here on; stored verdicts stay as they were computed. */
export function setPairGate({ ctx, input }: Call<z.infer<typeof SetPairGateInput>>): Promise<PairOut> {
  const { id, gate, revision } = input;
  return changeRow(ctx, {
    verb: "pair.setGate",
    entity: "pair",
    entityId: id,
    what: "the pair's gate",
    revision,
    read: () =>
      getPair({ ctx, input: { id } }).catch((error: unknown) => {
        if (error instanceof HelmError && error.code === "NOT_FOUND") return null;
        throw error;
      }),
    write: (where, next) => ctx.db.pair.updateMany({ where: { id, ...where }, data: { gate, ...next } }),
    audited: ({ name, ownGate }) => ({ name, ownGate }),
  });
}
