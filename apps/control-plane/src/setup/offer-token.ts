import { hashSecret } from "../access/secret";
import type { Context } from "../context";
import { setupIsOpen } from "./create-administrator";

/** Any control plane takes the token that this one prints; tokens of ones that are gone open nothing. */
export async function offerSetupToken(ctx: Context, token: string, alone: boolean): Promise<void> {
  if (alone) await ctx.db.setupToken.deleteMany();
  if (!(await setupIsOpen(ctx))) return;
  const hash = hashSecret(token);
  await ctx.db.setupToken.upsert({ where: { hash }, create: { hash }, update: {} });
}
