import { PASSWORD_LENGTH } from "@helm/contracts";
import { hashPassword, verifyPassword } from "better-auth/crypto";
import { z } from "zod";
import type { Context } from "../context";

export const NewPassword = z
  .string()
  .min(PASSWORD_LENGTH.min, `at least ${PASSWORD_LENGTH.min} characters`)
  .max(PASSWORD_LENGTH.max);

const CREDENTIAL = "credential";

/** Whoever may be let in by password: the rows that count where it is asked who is left. */
export const withPassword = { some: { providerId: CREDENTIAL, password: { not: null } } };

/** Kept as a salted scrypt digest, as the sign-in expects it. */
export async function setPassword(ctx: Context, userId: string, password: string): Promise<void> {
  const account = { providerId: CREDENTIAL, accountId: userId };
  const hashed = await hashPassword(password);
  await ctx.db.account.upsert({
    where: { providerId_accountId: account },
    create: { ...account, userId, password: hashed },
    update: { password: hashed },
  });
}

export async function removePassword(ctx: Context, userId: string): Promise<void> {
  await ctx.db.account.deleteMany({ where: { userId, providerId: CREDENTIAL } });
}

export async function passwordIs(ctx: Context, userId: string, password: string): Promise<boolean> {
  const account = await ctx.db.account.findUnique({
    where: { providerId_accountId: { providerId: CREDENTIAL, accountId: userId } },
  });
  return account?.password ? verifyPassword({ hash: account.password, password }) : false;
}
