import { z } from "zod";
import { mutation, query, router } from "../trpc/procedure";
import { CreateTenantInput, createTenant } from "./create";
import { TenantOut, tenantOut, withKeys } from "./schema";
import { SetTenantEnabledInput, setTenantEnabled } from "./set-enabled";

export const tenantRouter = router({
  list: query
    .output(z.array(TenantOut))
    .query(async ({ ctx }) =>
      (await ctx.db.tenant.findMany({ include: withKeys, orderBy: { name: "asc" } })).map(tenantOut),
    ),
  create: mutation.input(CreateTenantInput).output(TenantOut).mutation(createTenant),
  setEnabled: mutation.input(SetTenantEnabledInput).output(TenantOut).mutation(setTenantEnabled),
});
