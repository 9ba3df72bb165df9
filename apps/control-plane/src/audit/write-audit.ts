import type { AuditVerb } from "@helm/contracts";
import type { Prisma } from "@helm/db";
import { actorId, actorName } from "../access/actor";
import type { Context } from "../context";

export interface AuditFacts {
  verb: AuditVerb;
  entity: string;
  entityId: string;
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
  reason?: string;
}

const FORBIDDEN_FIELD = /password|secret|credential|hash|^token$|^key$/i;

/** One row in the mutation's own transaction. Fields that could hold a secret are refused by name. */
export async function writeAudit(ctx: Context, facts: AuditFacts): Promise<void> {
  for (const field of [...Object.keys(facts.before ?? {}), ...Object.keys(facts.after ?? {})]) {
    if (FORBIDDEN_FIELD.test(field)) throw new Error(`audit rows keep no field named ${field}`);
  }
  await ctx.db.auditEntry.create({
    data: {
      actorKind: ctx.actor.kind,
      actorId: actorId(ctx.actor),
      actorName: actorName(ctx.actor),
      verb: facts.verb,
      entity: facts.entity,
      entityId: facts.entityId,
      before: facts.before as Prisma.InputJsonValue | undefined,
      after: facts.after as Prisma.InputJsonValue | undefined,
      reason: facts.reason,
      requestId: ctx.requestId,
    },
  });
  ctx.touched.add("audit").add(facts.entity);
  ctx.verbs.add(facts.verb);
}
