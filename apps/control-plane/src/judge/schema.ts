import { JudgeBy, JudgeLabel, JudgeTable, JudgeTableFields } from "@helm/contracts";
import type { Prisma } from "@helm/db";
import { z } from "zod";

/** A table as lists show it: everything but its weights, steps and curve. */
export const JudgeTableOut = JudgeTableFields.pick({
  version: true,
  streaming: true,
  window: true,
  n: true,
  requests: true,
  positives: true,
  origin: true,
}).extend({
  id: z.uuid(),
  pairId: z.uuid(),
  pairName: z.string(),
  calibrationId: z.uuid().nullable(),
  sha256: z.string(),
  label: JudgeLabel,
  auc: z.number(),
  /** A model of the pair has other weights now: nodes judge by the route's bounds until there is a new table. */
  stale: z.boolean(),
  usedBy: z.array(z.string()),
  createdBy: z.string(),
  createdAt: z.date(),
});
export type JudgeTableOut = z.infer<typeof JudgeTableOut>;

export const withNames = {
  pair: { include: { source: true, target: true } },
  routes: { select: { name: true }, orderBy: { name: "asc" } },
} satisfies Prisma.JudgeTableInclude;

type Found = Prisma.JudgeTableGetPayload<{ include: typeof withNames }>;

export function judgeTableOut(found: Found): JudgeTableOut {
  const table = JudgeTable.parse(found.table);
  const { version, streaming, window, label, n, requests, positives, origin, held_out } = table;
  return {
    id: found.id,
    pairId: found.pairId,
    pairName: `${found.pair.source.name} -> ${found.pair.target.name}`,
    calibrationId: found.calibrationId,
    sha256: found.sha256,
    version,
    streaming,
    window,
    label,
    n,
    requests,
    positives,
    origin,
    auc: held_out.auc,
    stale: isStale(table, found.pair),
    usedBy: found.routes.map(({ name }) => name),
    createdBy: found.createdBy,
    createdAt: found.createdAt,
  };
}

type Weights = { weightsSha256: string | null };

/** What was learned of other weights says nothing of these. */
export function isStale({ weights }: JudgeTable, pair: { source: Weights; target: Weights }): boolean {
  const differs = (then: string | null, now: string | null) => then !== null && now !== null && then !== now;
  return (
    differs(weights.source, pair.source.weightsSha256) || differs(weights.target, pair.target.weightsSha256)
  );
}

/** How a route names the table it judges by. */
export const JudgeChoice = z.object({ id: z.uuid(), by: JudgeBy });
export type JudgeChoice = z.infer<typeof JudgeChoice>;
