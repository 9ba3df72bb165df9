import { z } from "zod";
import { mutation, query, router } from "../trpc/procedure";
import { CreateKeyInput, CreateKeyOutput, createKey } from "./create";
import { RevokeKeyInput, RevokeKeyOutput, revokeKey } from "./revoke";

export const KeyOut = z.object({
  id: z.uuid(),
  tenantId: z.uuid(),
  name: z.string(),
  prefix: z.string(),
  createdBy: z.string(),
  createdAt: z.date(),
  expiresAt: z.date().nullable(),
  revokedAt: z.date().nullable(),
  lastUsedAt: z.date().nullable(),
});

export const keyRouter = router({
  list: query
    .input(z.object({ tenantId: z.uuid() }))
    .output(z.array(KeyOut))
    .query(({ ctx, input }) =>
      ctx.db.apiKey.findMany({
        where: { tenantId: input.tenantId },
        omit: { hash: true },
        orderBy: { createdAt: "desc" },
      }),
    ),
  create: mutation.input(CreateKeyInput).output(CreateKeyOutput).mutation(createKey),
  revoke: mutation.input(RevokeKeyInput).output(RevokeKeyOutput).mutation(revokeKey),
});
