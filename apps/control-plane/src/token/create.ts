import { HelmError, TOKEN_DAYS, TOKEN_PREFIX } from "@helm/contracts";
import { z } from "zod";
import { actingPerson } from "../access/acting-person";
import { requireStillActing } from "../access/still-acting";
import { writeAudit } from "../audit/write-audit";
import { holdWaysIn } from "../auth/hold-ways-in";
import type { Call } from "../context";
import { makeToken } from "./token-text";

export const CreateTokenInput = z.object({
  name: z.string().trim().min(1).max(80),
  days: z.number().int().min(TOKEN_DAYS.min).max(TOKEN_DAYS.max).default(TOKEN_DAYS.usual),
});
export const CreateTokenOutput = z.object({
  id: z.uuid(),
  /** The whole token, shown this once; only its digest is kept. */
  token: z.string(),
  start: z.string(),
  expiresAt: z.date(),
});

const MOST_LIVE = 50;

/** For oneself. The row is the plugin's, written here so that it and its audit row are one transaction. */
export async function createToken({ ctx, input }: Call<z.infer<typeof CreateTokenInput>>) {
  const actor = actingPerson(ctx);
  await holdWaysIn(ctx, actor.id);
  await requireStillActing(ctx, "viewer");
  const live = await ctx.db.personalToken.count({
    where: { referenceId: actor.id, revokedAt: null, expiresAt: { gt: new Date() } },
  });
  if (live >= MOST_LIVE)
    throw new HelmError("CONFLICT", `You have ${live} live tokens. Revoke one that you do not use first.`);
  const { token, start, digest } = await makeToken();
  const expiresAt = new Date(Date.now() + input.days * 86_400_000);
  const { id } = await ctx.db.personalToken.create({
    data: { referenceId: actor.id, name: input.name, prefix: TOKEN_PREFIX, start, key: digest, expiresAt },
  });
  await writeAudit(ctx, {
    verb: "token.create",
    entity: "token",
    entityId: id,
    after: { person: actor.email, name: input.name, start, expiresAt: expiresAt.toISOString() },
  });
  return { id, token, start, expiresAt };
}
