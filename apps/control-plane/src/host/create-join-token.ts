import { z } from "zod";
import { actorName } from "../access/actor";
import { hashSecret, randomSecret } from "../access/secret";
import { writeAudit } from "../audit/write-audit";
import type { Call, Context } from "../context";

export const CreateJoinTokenInput = z.object({ kind: z.enum(["worker", "node"]) });
export const CreateJoinTokenOutput = z.object({
  id: z.uuid(),
  /** Shown once. */
  token: z.string(),
  expiresAt: z.date(),
  command: z.string(),
});

export async function createJoinToken({ ctx, input }: Call<z.infer<typeof CreateJoinTokenInput>>) {
  const token = `join_${randomSecret(24)}`;
  const { id, expiresAt } = await storeJoinToken(ctx, input.kind, token);
  const command = `HELM_CONTROL_URL=${ctx.services.config.publicUrl} HELM_JOIN_TOKEN=${token} npm run ${input.kind}`;
  return { id, token, expiresAt, command };
}

/** Keeps the hash alone; also for the tokens that the start command brings along. */
export async function storeJoinToken(ctx: Context, kind: "worker" | "node", token: string) {
  const { id, expiresAt } = await ctx.db.joinToken.create({
    data: {
      kind,
      hash: hashSecret(token),
      createdBy: actorName(ctx.actor),
      expiresAt: new Date(Date.now() + ctx.services.config.joinTokenMinutes * 60_000),
    },
  });
  await writeAudit(ctx, {
    verb: "host.createJoinToken",
    entity: "join_token",
    entityId: id,
    after: { kind, expiresAt: expiresAt.toISOString() },
  });
  return { id, expiresAt };
}
