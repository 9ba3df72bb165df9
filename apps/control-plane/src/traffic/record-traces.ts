import { decisionOfError, type RequestTrace, type TraceBatch } from "@helm/contracts";
import type { Prisma } from "@helm/db";
import type { Call } from "../context";
import { databaseNow } from "../database-clock";
import { actingHost } from "../host/acting-host";

/**
 * Stores what came of a node; a trace that came before is known by its id and left as it is. Texts are kept only of tenants
 * that are opted in here and now: a node may not have heard yet that one has withdrawn.
 */
export async function recordTraces({ ctx, input }: Call<TraceBatch>): Promise<{ stored: number }> {
  const nodeId = actingHost(ctx, "node").id;
  const now = await databaseNow(ctx.db);
  const withText = [...new Set(input.traces.filter(({ text }) => text).map(({ tenant_id }) => tenant_id))];
  // The row is held, so that who withdraws at this moment deletes what is stored here, or keeps it from being stored.
  const open = withText.length === 0 ? new Set<string>() : await openTenants(ctx.db, withText, now);
  const stored = await ctx.db.requestTrace.createMany({
    data: input.traces.map((trace) => rowOf(trace, nodeId, now, open.has(trace.tenant_id))),
    skipDuplicates: true,
  });
  return { stored: stored.count };
}

async function openTenants(
  db: Prisma.TransactionClient,
  ids: string[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT "id"::text AS id FROM "tenant" WHERE "id"::text = ANY (${ids}) AND "trace_text_until" > ${now}
    ORDER BY "id" FOR SHARE`;
  return new Set(rows.map(({ id }) => id));
}

function rowOf(
  trace: RequestTrace,
  nodeId: string,
  now: Date,
  textKept: boolean,
): Prisma.RequestTraceCreateManyInput {
  const { text, ...document } = trace;
  const { error_code } = trace;
  return {
    id: trace.id,
    // A node's clock that runs ahead is believed up to now.
    at: new Date(Math.min(now.getTime(), new Date(trace.at).getTime())),
    receivedAt: now,
    nodeId,
    tenantId: trace.tenant_id,
    pairId: trace.pair_id ?? "",
    route: trace.route ?? "",
    decision: trace.decision ?? (error_code === null ? "" : decisionOfError(trace.status, error_code)),
    reason: (trace.decision === null ? error_code : trace.reason) ?? "",
    transfer: trace.transfer ?? "",
    status: trace.status,
    errorCode: error_code ?? "",
    kept: trace.kept,
    shareKind: trace.share?.kind ?? "",
    document,
    ...(textKept && text ? { text } : {}),
  };
}
