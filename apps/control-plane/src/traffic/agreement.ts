import { z } from "zod";
import type { Call } from "../context";
import { Proportion, proportion } from "./proportion";
import { narrow, spanOf, type TrafficRange } from "./range";

const Agreement = z.object({
  requests: z.number().int(),
  firstToken: Proportion.nullable(),
  /** Of all compared positions, up to and including the first difference of each request. */
  positions: Proportion.nullable(),
});

export const AgreementOutput = z.object({
  since: z.date(),
  until: z.date(),
  /** Kept answers beside the target's own: live agreement. It is no retention and is never called so. */
  keptAlsoTarget: Agreement,
  /** Carried across beside the target's own prefill. */
  escalatedAlsoNative: Agreement,
  outcomes: z.object({
    rescued: z.number().int(),
    wasted: z.number().int(),
    futile: z.number().int(),
    forced: z.number().int(),
  }),
});

interface Row {
  kind: string;
  requests: number;
  first: number;
  first_of: number;
  agreed: number;
  compared: number;
  rescued: number;
  wasted: number;
  futile: number;
}

const NONE: Row = {
  kind: "",
  requests: 0,
  first: 0,
  first_of: 0,
  agreed: 0,
  compared: 0,
  rescued: 0,
  wasted: 0,
  futile: 0,
};

/** What the random shares say: answers given both ways, compared token by token. */
export async function readAgreement({
  ctx,
  input,
}: Call<TrafficRange>): Promise<z.infer<typeof AgreementOutput>> {
  const span = await spanOf(ctx, input);
  const rows = await ctx.db.$queryRaw<Row[]>`
    SELECT "share_kind" AS kind, count(*)::int AS requests,
      count(*) FILTER (WHERE share->>'first_token_agrees' = 'true')::int AS first,
      count(share->>'first_token_agrees')::int AS first_of,
      coalesce(sum((share#>>'{positions,agreed}')::float8), 0) AS agreed,
      coalesce(sum((share#>>'{positions,compared}')::float8), 0) AS compared,
      count(*) FILTER (WHERE share->>'label' = 'rescued')::int AS rescued,
      count(*) FILTER (WHERE share->>'label' = 'wasted')::int AS wasted,
      count(*) FILTER (WHERE share->>'label' = 'futile')::int AS futile
    FROM (SELECT "share_kind", "document"->'share' AS share FROM "request_trace"
      WHERE "share_kind" <> '' AND "at" >= ${span.since} ${narrow(input)}) AS "shares" GROUP BY 1`;
  const of = (kind: string) => rows.find((row) => row.kind === kind) ?? NONE;
  const total = (label: "rescued" | "wasted" | "futile") => rows.reduce((all, row) => all + row[label], 0);
  return {
    ...span,
    keptAlsoTarget: agreementOf(of("kept_also_target")),
    escalatedAlsoNative: agreementOf(of("escalated_also_native")),
    outcomes: {
      rescued: total("rescued"),
      wasted: total("wasted"),
      futile: total("futile"),
      forced: of("forced_escalation").requests,
    },
  };
}

function agreementOf(row: Row): z.infer<typeof Agreement> {
  return {
    requests: row.requests,
    firstToken: proportion(row.first, row.first_of),
    positions: proportion(row.agreed, row.compared),
  };
}
