"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { z } from "zod";
import { tellStored } from "../../api/tell";
import { useTRPC } from "../../api/trpc";
import { SelectField, TextField } from "../../ui/field";
import { EditFooter } from "../edit/edit-footer";
import { Preview, useSettled } from "../edit/preview";
import { useEditForm } from "../edit/use-edit-form";
import { pairName } from "../pairs/pair-words";
import { SETTING_WORDS, type Setting } from "./use-helm-switch";

const HOUR = 3_600;
const hours = z.coerce.number<number>("A number.").min(2, "At least 2 hours.").max(8_760, "At most a year.");
const whole = z.coerce.number<number>("A number.").int("A whole number.").min(1, "At least 1.");
const Form = z
  .object({
    gate: z.coerce.number<number>("A number.").gt(0, "Above 0.").max(1, "At most 1."),
    gateOn: z.enum(["lower", "point"]),
    requireBeatsPilot: z.enum(["yes", "no"]),
    helmOffAfterS: hours,
    refuseKeysAfterS: hours,
    tracePercent: z.coerce.number<number>("A number.").min(0, "At least 0.").max(100, "At most 100."),
    traceDays: whole.max(90, "At most 90 days."),
    traceTextHours: whole.max(168, "At most a week."),
  })
  .refine(({ helmOffAfterS, refuseKeysAfterS }) => refuseKeysAfterS >= helmOffAfterS, {
    path: ["refuseKeysAfterS"],
    message: "Not before Helm goes off.",
  });

export function SettingsForm({ setting, onDone }: { setting: Setting; onDone: () => void }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const update = useMutation(trpc.setting.update.mutationOptions());
  const edit = useEditForm({
    row: setting,
    schema: Form,
    valuesOf: (row) => ({
      gate: row.gate,
      gateOn: row.gateOn,
      requireBeatsPilot: row.requireBeatsPilot ? ("yes" as const) : ("no" as const),
      helmOffAfterS: row.helmOffAfterS / HOUR,
      refuseKeysAfterS: row.refuseKeysAfterS / HOUR,
      tracePercent: Math.round(row.traceRate * 10_000) / 100,
      traceDays: row.traceDays,
      traceTextHours: row.traceTextHours,
    }),
    save: (values, revision) => update.mutateAsync({ ...stored(values), revision }),
    onStored: ({ revision }) => {
      tellStored("The settings are changed", `Stored as revision ${revision}; nodes are told now.`);
      for (const path of [trpc.setting, trpc.overview, trpc.pair])
        void client.invalidateQueries({ queryKey: path.pathKey() });
      onDone();
    },
    what: "the settings",
    words: SETTING_WORDS,
  });
  const { register, formState, watch } = edit.form;
  const { errors } = formState;
  const asked = useSettled(Form.safeParse(watch()).data ?? null);
  return (
    <form onSubmit={edit.submit} noValidate className="space-y-4">
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Gate"
          hint="Retention that a run must reach."
          inputMode="decimal"
          error={errors.gate?.message}
          {...register("gate")}
        />
        <SelectField label="Gate on" hint="What is compared with it." {...register("gateOn")}>
          <option value="lower">the interval's lower bound</option>
          <option value="point">the point value</option>
        </SelectField>
        <TextField
          label="Helm off after (hours)"
          hint="On a node that hears nothing from here."
          inputMode="decimal"
          error={errors.helmOffAfterS?.message}
          {...register("helmOffAfterS")}
        />
        <TextField
          label="Keys refused after (hours)"
          hint="Then such a node answers nobody."
          inputMode="decimal"
          error={errors.refuseKeysAfterS?.message}
          {...register("refuseKeysAfterS")}
        />
      </div>
      <div className="grid gap-4 sm:grid-cols-3">
        <TextField
          label="Traced requests (%)"
          hint="Of ordinary ones; the others always are."
          inputMode="decimal"
          error={errors.tracePercent?.message}
          {...register("tracePercent")}
        />
        <TextField
          label="Traces kept (days)"
          hint="Counters are kept longer."
          inputMode="numeric"
          error={errors.traceDays?.message}
          {...register("traceDays")}
        />
        <TextField
          label="Their texts kept (hours)"
          hint="Of tenants that opted in."
          inputMode="numeric"
          error={errors.traceTextHours?.message}
          {...register("traceTextHours")}
        />
      </div>
      <SelectField label="Pairs that do not beat their pilot" {...register("requireBeatsPilot")}>
        <option value="yes">are not used</option>
        <option value="no">are used, too</option>
      </SelectField>
      {asked && edit.isDirty ? (
        <Preview options={trpc.setting.preview.queryOptions(stored(asked))}>
          {({ pairs }) => (
            <ul className="mt-2 space-y-1.5">
              {pairs.map(({ id, name, sentence }) => (
                <li key={id}>
                  <strong className="font-semibold">{pairName(name)}</strong>: {sentence}
                </li>
              ))}
            </ul>
          )}
        </Preview>
      ) : null}
      <EditFooter edit={edit} onCancel={onDone} />
    </form>
  );
}

function stored({
  requireBeatsPilot,
  helmOffAfterS,
  refuseKeysAfterS,
  tracePercent,
  ...rest
}: z.output<typeof Form>) {
  return {
    ...rest,
    traceRate: tracePercent / 100,
    requireBeatsPilot: requireBeatsPilot === "yes",
    helmOffAfterS: Math.round(helmOffAfterS * HOUR),
    refuseKeysAfterS: Math.round(refuseKeysAfterS * HOUR),
  };
}
