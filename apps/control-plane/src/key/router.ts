import { KeyState, keyStateOf } from "@helm/contracts";
import { z } from "zod";
import type { Context } from "../context";
import { mutation, query, router } from "../trpc/procedure";
import { CreateKeyInput, CreateKeyOutput, createKey } from "./create";
import { RevokeKeyInput, RevokeKeyOutput, revokeKey } from "./revoke";
import { RotateKeyInput, RotateKeyOutput, rotateKey } from "./rotate";

export const KeyOut = z.object({
  id: z.uuid(),
  tenantId: z.uuid(),
  name: z.string(),
  prefix: z.string(),
  state: KeyState,
  createdBy: z.string(),
  createdAt: z.date(),
  expiresAt: z.date().nullable(),
  revokedAt: z.date().nullable(),
  /** To the minute, as nodes report it. */
  lastUsedAt: z.date().nullable(),
  /** Prefix of the key that this one took over from, and of the one that takes over from it. */
  replaces: z.string().nullable(),
  replacedBy: z.string().nullable(),
});

const prefix = { select: { prefix: true } } as const;

async function listKeys(ctx: Context, tenantId: string): Promise<z.infer<typeof KeyOut>[]> {
  const now = new Date();
  const rows = await ctx.db.apiKey.findMany({
    where: { tenantId },
    omit: { hash: true },
    include: { replaces: prefix, replacedBy: prefix },
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
  });
  return rows.map(({ replaces, replacedBy, replacesId: _, ...key }) => ({
    ...key,
    state: keyStateOf(key, now),
    replaces: replaces?.prefix ?? null,
    replacedBy: replacedBy[0]?.prefix ?? null,
  }));
}

export const keyRouter = router({
  list: query
    .input(z.object({ tenantId: z.uuid() }))
    .output(z.array(KeyOut))
    .query(({ ctx, input }) => listKeys(ctx, input.tenantId)),
  create: mutation.input(CreateKeyInput).output(CreateKeyOutput).mutation(createKey),
  rotate: mutation.input(RotateKeyInput).output(RotateKeyOutput).mutation(rotateKey),
  revoke: mutation.input(RevokeKeyInput).output(RevokeKeyOutput).mutation(revokeKey),
});
