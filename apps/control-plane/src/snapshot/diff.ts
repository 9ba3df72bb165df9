import { z } from "zod";
import type { Call } from "../context";
import { compileRouting } from "./compile-routing";
import { diffRouting, RoutingDifference } from "./diff-routing";
import { Generation, readSnapshot } from "./get";
import { readNames } from "./names";
import { readContent } from "./routing-content";

export const DiffSnapshotsInput = z.object({
  from: Generation,
  /** Null: what the settings give now, which differs from the newest generation while a rollback is held. */
  to: Generation.nullable(),
});
export const DiffSnapshotsOutput = z.object({
  from: z.number().int(),
  to: z.number().int().nullable(),
  differences: z.array(RoutingDifference),
});

export async function diffSnapshots({ ctx, input }: Call<z.infer<typeof DiffSnapshotsInput>>) {
  const from = readContent((await readSnapshot(ctx, input.from)).document);
  const to =
    input.to === null
      ? await compileRouting(ctx.db)
      : readContent((await readSnapshot(ctx, input.to)).document);
  return { ...input, differences: diffRouting(from, to, await readNames(ctx.db)) };
}
