import { z } from "zod";
import { mutation, query, router } from "../trpc/procedure";
import { archiveTenant, RemoveTenantOutput, removeTenant, restoreTenant, TenantEditInput } from "./archive";
import { findTenant } from "./change-tenant";
import { CreateTenantInput, createTenant } from "./create";
import { EffectiveInput, EffectiveOutput, readEffective } from "./effective";
import { ListTenantsInput, listTenants } from "./list";
import { TenantOut } from "./schema";
import { SetTenantEnabledInput, setTenantEnabled } from "./set-enabled";
import { SetTraceTextInput, setTraceText } from "./set-trace-text";
import { UpdateTenantInput, updateTenant } from "./update";

export const tenantRouter = router({
  list: query
    .input(ListTenantsInput)
    .output(z.array(TenantOut))
    .query(({ ctx, input }) => listTenants(ctx, input)),
  get: query
    .input(z.object({ id: z.uuid() }))
    .output(TenantOut)
    .query(({ ctx, input }) => findTenant(ctx, input.id)),
  effective: query.input(EffectiveInput).output(EffectiveOutput).query(readEffective),
  create: mutation.input(CreateTenantInput).output(TenantOut).mutation(createTenant),
  update: mutation.input(UpdateTenantInput).output(TenantOut).mutation(updateTenant),
  setEnabled: mutation.input(SetTenantEnabledInput).output(TenantOut).mutation(setTenantEnabled),
  setTraceText: mutation.input(SetTraceTextInput).output(TenantOut).mutation(setTraceText),
  archive: mutation.input(TenantEditInput).output(TenantOut).mutation(archiveTenant),
  restore: mutation.input(TenantEditInput).output(TenantOut).mutation(restoreTenant),
  remove: mutation.input(TenantEditInput).output(RemoveTenantOutput).mutation(removeTenant),
});
