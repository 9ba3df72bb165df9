import { type ConflictChange, HelmError } from "@helm/contracts";
import type { Context } from "../context";

export interface StaleEdit {
  /** As audit rows name it. */
  entity: string;
  entityId: string;
  /** As a person would call it: "the route helm-auto". */
  what: string;
  /** What the editor held. */
  revision: number;
  current: { revision: number };
}

/** How far back the changes are looked up: an editor that was away longer than this sees the newest of them. */
const MOST_STEPS = 50;

/** Somebody else was faster: says who, when and what, with what stands now, so that nobody has to guess. */
export async function conflictOf(ctx: Context, edit: StaleEdit): Promise<HelmError> {
  const { current, what } = edit;
  const rows = await ctx.db.auditEntry.findMany({
    where: { entity: edit.entity, entityId: edit.entityId },
    orderBy: [{ at: "desc" }, { id: "desc" }],
    take: MOST_STEPS,
  });
  const since = rows.filter((row) => revisionOf(row.after) > edit.revision);
  const newest = since[0];
  const oldest = since.at(-1);
  const changes = newest && oldest ? differences(oldest.before, newest.after) : [];
  const who = newest ? newest.actorName : "Someone else";
  return new HelmError("CONFLICT", `${who} changed ${what} meanwhile. Look at it again.`, {
    revision: current.revision,
    changedBy: newest?.actorName ?? null,
    changedAt: newest?.at.toISOString() ?? null,
    changes,
    current,
  });
}

function revisionOf(fields: unknown): number {
  const revision = (fields as { revision?: unknown } | null)?.revision;
  return typeof revision === "number" ? revision : 0;
}

/** Fields that differ, objects by their fields: {judge: {meanLogprob}} is "judge.meanLogprob". */
function differences(before: unknown, after: unknown, at = ""): ConflictChange[] {
  const [left, right] = [before, after] as Record<string, unknown>[];
  return Object.keys({ ...left, ...right }).flatMap((key) => {
    const field = at ? `${at}.${key}` : key;
    const [was, is] = [left?.[key] ?? null, right?.[key] ?? null];
    if (field === "revision" || JSON.stringify(was) === JSON.stringify(is)) return [];
    return isPlain(was) && isPlain(is) ? differences(was, is, field) : [{ field, before: was, after: is }];
  });
}

function isPlain(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
