import { z } from "zod";
import type { Context } from "../context";
import { type TenantOut, tenantOut, withKeys } from "./schema";

export const ListTenantsInput = z
  .object({
    search: z.string().max(80).optional(),
    helm: z.enum(["enabled", "excluded"]).optional(),
    /** Archived ones stand apart: they are shown where they are asked for. */
    archived: z.boolean().default(false),
    overrides: z.enum(["some", "none"]).optional(),
    keys: z.enum(["live", "none"]).optional(),
  })
  .default({ archived: false });

/** By name. */
export async function listTenants(
  ctx: Context,
  input: z.infer<typeof ListTenantsInput>,
): Promise<TenantOut[]> {
  const rows = await ctx.db.tenant.findMany({
    where: {
      archivedAt: input.archived ? { not: null } : null,
      ...(input.search ? { name: { contains: input.search.trim().toLowerCase() } } : {}),
      ...(input.helm ? { enabled: input.helm === "enabled" } : {}),
    },
    include: withKeys,
    orderBy: { name: "asc" },
  });
  return rows
    .map(tenantOut)
    .filter(({ keys }) => !input.keys || keys.live > 0 === (input.keys === "live"))
    .filter((tenant) => !input.overrides || hasOverrides(tenant) === (input.overrides === "some"));
}

function hasOverrides({
  streaming,
  window,
  meanLogprob,
  minLogprob,
  transferOff,
  maxConcurrent,
}: TenantOut): boolean {
  const values = [streaming, window, meanLogprob, minLogprob, maxConcurrent];
  return transferOff === true || values.some((value) => value !== null);
}
