import { HelmError, TraceId } from "@helm/contracts";
import { z } from "zod";
import type { Call } from "../context";
import { readNames } from "./names";
import { type StoredTrace, TRACE_COLUMNS, TraceRow, traceRow } from "./requests";

export const TraceInput = z.object({ id: TraceId });
export const TraceOutput = TraceRow.extend({
  node: z.object({ id: z.string(), name: z.string() }).nullable(),
  expiresAt: z.date(),
});

/** One request in full, without what was said. */
export async function readTrace({
  ctx,
  input,
}: Call<z.infer<typeof TraceInput>>): Promise<z.infer<typeof TraceOutput>> {
  const [row] = await ctx.db.$queryRaw<(StoredTrace & { received_at: Date })[]>`
    SELECT ${TRACE_COLUMNS}, "received_at" FROM "request_trace" WHERE "id" = ${input.id}`;
  if (!row) throw noSuchTrace();
  const { traceDays } = await ctx.db.setting.findUniqueOrThrow({ where: { id: 1 } });
  const node = await ctx.db.host.findFirst({
    where: { id: row.node_id },
    select: { id: true, name: true },
  });
  const names = await readNames(ctx, [row.tenant_id]);
  return {
    ...traceRow(row, names),
    node,
    expiresAt: new Date(row.received_at.getTime() + traceDays * 86_400_000),
  };
}

export function noSuchTrace(): HelmError {
  return new HelmError(
    "NOT_FOUND",
    "There is no trace of this id. A new one takes a few seconds to arrive; of ordinary requests only a share is sent, and traces expire. The settings say which share, and after how many days.",
  );
}
