import { HelmError, TraceText } from "@helm/contracts";
import type { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import type { Call } from "../context";
import { noSuchTrace, type TraceInput } from "./trace";

/** What a tenant's caller wrote and was told. Who reads it leaves a row in the audit, without the text. */
export async function readTraceText({
  ctx,
  input,
}: Call<z.infer<typeof TraceInput>>): Promise<z.infer<typeof TraceText>> {
  const row = await ctx.db.requestTrace.findUnique({ where: input, select: { tenantId: true, text: true } });
  if (!row) throw noSuchTrace();
  const text = TraceText.safeParse(row.text);
  if (!text.success)
    throw new HelmError(
      "NOT_FOUND",
      "This trace has no text: its tenant had not opted in, has withdrawn, or the text has expired.",
    );
  await writeAudit(ctx, {
    verb: "traffic.text",
    entity: "trace",
    entityId: input.id,
    after: { tenant: row.tenantId },
  });
  return text.data;
}
