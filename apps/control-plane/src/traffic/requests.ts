import { REQUEST_DECISIONS, RequestTrace } from "@helm/contracts";
import { Prisma } from "@helm/db";
import { z } from "zod";
import type { Call } from "../context";
import { readNames, type TrafficNames } from "./names";
import { narrow, spanOf, TrafficRange } from "./range";

export const RequestsInput = TrafficRange.extend({
  decision: z.enum(REQUEST_DECISIONS).optional(),
  reason: z.string().max(80).optional(),
  transfer: z.enum(["transferred", "fallback", "none"]).optional(),
  kept: z.enum(["fallback", "refusal", "error", "share", "rate", "asked"]).optional(),
  node: z.string().max(80).optional(),
  cursor: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .nullish(),
  limit: z.number().int().min(1).max(500).default(50),
});

export const TraceRow = z.object({
  id: z.string(),
  at: z.date(),
  tenant: z.object({ id: z.string(), name: z.string() }),
  pair: z.object({ id: z.string(), name: z.string() }).nullable(),
  nodeId: z.string(),
  trace: RequestTrace.omit({ text: true }),
  /** Prompt and answer are there, for who may read them. */
  hasText: z.boolean(),
});
export type TraceRow = z.infer<typeof TraceRow>;
export const RequestsOutput = z.object({ rows: z.array(TraceRow), nextCursor: z.string().nullable() });

export interface StoredTrace {
  id: string;
  at: Date;
  node_id: string;
  tenant_id: string;
  pair_id: string;
  document: unknown;
  has_text: boolean;
}

export const TRACE_COLUMNS = Prisma.sql`"id", "at", "node_id", "tenant_id", "pair_id", "document", "text" IS NOT NULL AS has_text`;

/** Sampled requests, newest first; among those of one moment the id decides. */
export async function listRequests({
  ctx,
  input,
}: Call<z.infer<typeof RequestsInput>>): Promise<z.infer<typeof RequestsOutput>> {
  const { since } = await spanOf(ctx, input);
  const last = input.cursor
    ? await ctx.db.requestTrace.findUnique({ where: { id: input.cursor }, select: { at: true, id: true } })
    : null;
  if (input.cursor && !last) return { rows: [], nextCursor: null };
  const found = await ctx.db.$queryRaw<StoredTrace[]>`
    SELECT ${TRACE_COLUMNS} FROM "request_trace"
    WHERE "at" >= ${since} ${narrow(input)} ${narrowRequests(input)}
      ${last ? Prisma.sql`AND ("at", "id") < (${last.at}, ${last.id})` : Prisma.empty}
    ORDER BY "at" DESC, "id" DESC LIMIT ${input.limit + 1}`;
  const rows = found.slice(0, input.limit);
  const names = await readNames(
    ctx,
    rows.map((row) => row.tenant_id),
  );
  return {
    rows: rows.map((row) => traceRow(row, names)),
    nextCursor: found.length > input.limit ? (rows.at(-1)?.id ?? null) : null,
  };
}

function narrowRequests(input: z.infer<typeof RequestsInput>): Prisma.Sql {
  const parts: Prisma.Sql[] = [];
  if (input.decision) parts.push(Prisma.sql`AND "decision" = ${input.decision}`);
  if (input.reason) parts.push(Prisma.sql`AND "reason" = ${input.reason}`);
  if (input.transfer) parts.push(Prisma.sql`AND "transfer" = ${input.transfer}`);
  if (input.kept) parts.push(Prisma.sql`AND "kept" = ${input.kept}`);
  if (input.node) parts.push(Prisma.sql`AND "node_id" = ${input.node}`);
  return parts.length > 0 ? Prisma.join(parts, " ") : Prisma.empty;
}

export function traceRow(row: StoredTrace, names: TrafficNames): TraceRow {
  const pair = names.pair(row.pair_id);
  return {
    id: row.id,
    at: row.at,
    tenant: { id: row.tenant_id, name: names.tenant(row.tenant_id) },
    pair: pair === null ? null : { id: row.pair_id, name: pair },
    nodeId: row.node_id,
    // Read by the answer's own schema, once.
    trace: row.document as TraceRow["trace"],
    hasText: row.has_text,
  };
}
