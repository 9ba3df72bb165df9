import { HelmError } from "@helm/contracts";
import { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import type { Call } from "../context";
import { Generation } from "./get";
import { lockRouting, publishSnapshot } from "./publish-snapshot";
import { readHold } from "./routing-hold";

export const ReleaseInput = z.object({
  /** The generation that is held, as the person saw it. */
  held: Generation,
});
export const ReleaseOutput = z.object({ generation: z.number().int() });

/** The settings give the content again. */
export async function releaseSnapshot({ ctx, input }: Call<z.infer<typeof ReleaseInput>>) {
  await lockRouting(ctx);
  const hold = await readHold(ctx.db);
  if (hold?.generation !== input.held) {
    throw new HelmError(
      "CONFLICT",
      hold
        ? `The routing is held at generation ${hold.generation} by ${hold.heldBy}, not at ${input.held}. Look again.`
        : "Nothing is held: the routing follows the settings already.",
      { held: hold?.generation ?? null },
    );
  }
  await ctx.db.routingHold.delete({ where: { id: 1 } });
  await writeAudit(ctx, {
    verb: "snapshot.release",
    entity: "snapshot",
    entityId: String(hold.generation),
    before: { rolledBackTo: hold.generation, heldBy: hold.heldBy },
    after: { rolledBackTo: null },
  });
  return { generation: await publishSnapshot(ctx) };
}
