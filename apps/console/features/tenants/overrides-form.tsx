"use client";

import { TenantName } from "@helm/contracts";
import { useMutation } from "@tanstack/react-query";
import { z } from "zod";
import { tellStored } from "../../api/tell";
import { useTRPC } from "../../api/trpc";
import { SelectField, TextField } from "../../ui/field";
import { EditFooter } from "../edit/edit-footer";
import { useEditForm } from "../edit/use-edit-form";
import { JudgeFields } from "../helm/judge-fields";
import { JudgeOverridesShape, orEmpty, wholeNumber } from "../helm/judge-schema";
import { useBlocked } from "../session/use-session";
import { TENANT_WORDS, type Tenant, useTenantRefresh } from "./use-tenants";

const Form = z.object({
  name: TenantName,
  ...JudgeOverridesShape,
  transferOff: z.enum(["route", "off"]),
  maxConcurrent: orEmpty(wholeNumber(100_000)),
});

/** Name and what the tenant has of its own. */
export function OverridesForm({ tenant }: { tenant: Tenant }) {
  const trpc = useTRPC();
  const refresh = useTenantRefresh();
  const blocked = useBlocked("admin");
  const update = useMutation(trpc.tenant.update.mutationOptions());
  const edit = useEditForm({
    row: tenant,
    schema: Form,
    valuesOf: (row): z.input<typeof Form> => ({
      name: row.name,
      meanLogprob: row.meanLogprob ?? "",
      minLogprob: row.minLogprob ?? "",
      streaming: row.streaming ?? "",
      window: row.window ?? "",
      transferOff: row.transferOff ? "off" : "route",
      maxConcurrent: row.maxConcurrent ?? "",
    }),
    save: ({ transferOff, ...values }, revision) =>
      update.mutateAsync({
        id: tenant.id,
        ...values,
        transferOff: transferOff === "off" ? true : null,
        revision,
      }),
    onStored: (stored) => {
      tellStored(`${stored.name} is changed`, `Stored as revision ${stored.revision}; nodes are told now.`);
      refresh();
    },
    what: `the tenant ${tenant.name}`,
    words: TENANT_WORDS,
  });
  const { register, formState, watch } = edit.form;
  const { errors } = formState;
  return (
    <form onSubmit={edit.submit} noValidate className="space-y-4">
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Name"
          hint="Keys and counts stay with it through a rename."
          autoComplete="off"
          error={errors.name?.message}
          {...register("name")}
        />
        <TextField
          label="Requests at a time"
          hint="On each node; beyond it 429 tenant_quota. Empty: no limit."
          inputMode="numeric"
          error={errors.maxConcurrent?.message}
          {...register("maxConcurrent")}
        />
        <JudgeFields
          field={(name) => ({ ...register(name), error: errors[name]?.message })}
          streaming={watch("streaming")}
          inherited
        />
        <SelectField
          label="Transfer"
          hint={
            watch("transferOff") === "off"
              ? "The target reads every prompt itself."
              : "The cache is carried across where it pays."
          }
          {...register("transferOff")}
        >
          <option value="route">where it pays</option>
          <option value="off">off</option>
        </SelectField>
      </div>
      <EditFooter edit={edit} blockedBecause={blocked} />
    </form>
  );
}
