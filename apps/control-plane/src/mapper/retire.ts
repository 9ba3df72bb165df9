import type { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import type { Call } from "../context";
import { refreshPairStatus } from "../pair/refresh-status";
import { lockMapper, type MapperIdInput } from "./activate";
import { nextMapperState } from "./states";

/** Final. Retiring the active mapper leaves its pair without one. */
export async function retireMapper({ ctx, input }: Call<z.infer<typeof MapperIdInput>>) {
  const mapper = await lockMapper(ctx, input);
  const state = nextMapperState(mapper.state, "retire");
  await ctx.db.mapper.update({
    where: { id: mapper.id },
    data: { state, retiredAt: new Date(), revision: { increment: 1 } },
  });
  const pairStatus = await refreshPairStatus(ctx, mapper.pairId);
  await writeAudit(ctx, {
    verb: "mapper.retire",
    entity: "mapper",
    entityId: mapper.id,
    before: { state: mapper.state },
    after: { state, pairStatus },
  });
  return { id: mapper.id, state, pairStatus };
}
