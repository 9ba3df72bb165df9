"use client";

import { RouteName } from "@helm/contracts";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { z } from "zod";
import { tellStored } from "../../api/tell";
import { type Outputs, useTRPC } from "../../api/trpc";
import { SelectField, TextField } from "../../ui/field";
import { EditFooter } from "../edit/edit-footer";
import { Preview, useSettled } from "../edit/preview";
import { useEditForm } from "../edit/use-edit-form";
import { JudgeFields } from "./judge-fields";
import { JudgeShape, orEmpty, wholeNumber } from "./judge-schema";
import { JudgeTableFields } from "./judge-table-fields";
import { choiceOfFields, fieldsOfChoice, JudgeTableShape } from "./judge-table-schema";
import { PairOptions, pairHint } from "./pair-choice";
import { ShareFields } from "./share-fields";
import { ShareShape } from "./share-schema";

type Route = Outputs["route"]["list"][number];

const Form = z.object({
  name: RouteName,
  pairId: z.string().min(1, "Choose a pair."),
  ...JudgeTableShape,
  ...JudgeShape,
  defaultMaxTokens: wholeNumber(1_000_000),
  holdTurns: orEmpty(wholeNumber(10_000)),
  ...ShareShape,
});
type Values = z.input<typeof Form>;

/** What a new route starts from. */
const NEW: Values = {
  name: "",
  pairId: "",
  ...fieldsOfChoice(null),
  meanLogprob: -0.5,
  minLogprob: -3,
  streaming: "window",
  window: 64,
  defaultMaxTokens: 256,
  holdTurns: "",
  maxSwitches: 4,
  shareKept: 0.01,
  shareEscalated: 0.01,
  shareForced: 0.002,
};
/** A route that is not there yet has no revision that anybody could have changed. */
const NOTHING = { revision: 0 } as Route;

/** What the server calls otherwise than the form. */
const FIELD_OF: Record<string, string> = {
  newName: "name",
  judgeTable: "judgeTableId",
  "judgeTable.by": "judgeShare",
};

const WORDS = {
  labels: {
    name: "Name",
    pairId: "Pair",
    pairName: "Pair",
    judgeTable: "Judge",
    "judge.meanLogprob": "Mean log-probability",
    "judge.minLogprob": "Least log-probability",
    streaming: "Streaming",
    window: "Window",
    defaultMaxTokens: "Default length",
    holdTurns: "Hold turns",
    maxSwitches: "Most switches",
    shareKept: "Kept, also the target",
    shareEscalated: "Escalated, also native",
    shareForced: "Forced escalations",
  },
};

export function RouteForm({ route, onDone }: { route: Route | null; onDone: () => void }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const pairs = useQuery(trpc.pair.list.queryOptions()).data ?? [];
  const create = useMutation(trpc.route.create.mutationOptions());
  const update = useMutation(trpc.route.update.mutationOptions());
  const edit = useEditForm({
    row: route ?? NOTHING,
    schema: Form,
    valuesOf: (row) => (row === NOTHING ? NEW : valuesOf(row)),
    save: ({ name, ...values }, revision) =>
      route
        ? update.mutateAsync({ ...fieldsOf(values), name: route.name, newName: name, revision })
        : create.mutateAsync({ ...fieldsOf(values), name }),
    onStored: (stored) => {
      tellStored(
        `${stored.name} is ${route ? "changed" : "created"}`,
        `Stored as revision ${stored.revision}; nodes are told now.`,
      );
      for (const path of [trpc.route, trpc.overview, trpc.tenant])
        void client.invalidateQueries({ queryKey: path.pathKey() });
      onDone();
    },
    what: route ? `the route ${route.name}` : "the route",
    words: WORDS,
    fieldOf: (field) => FIELD_OF[field] ?? field.split(".").at(-1) ?? field,
  });
  const { register, formState, watch } = edit.form;
  const { errors } = formState;
  const asked = useSettled(Form.safeParse(watch()).data ?? null);
  return (
    <form onSubmit={edit.submit} noValidate className="space-y-4">
      <TextField
        label="Name"
        hint="What clients send as model. Never the name of a model that is served."
        autoComplete="off"
        error={errors.name?.message}
        {...register("name")}
      />
      <SelectField
        label="Pair"
        hint={pairHint(pairs.find(({ id }) => id === watch("pairId")))}
        error={errors.pairId?.message}
        {...register("pairId")}
      >
        {route ? null : <option value="">Choose a pair</option>}
        {route && pairs.length === 0 ? <option value={route.pairId}>{route.pairName}</option> : null}
        <PairOptions pairs={pairs} />
      </SelectField>
      <div className="grid gap-4 sm:grid-cols-2">
        <JudgeTableFields
          field={(name) => ({ ...register(name), error: errors[name]?.message })}
          pairId={watch("pairId")}
          holds={watch()}
          chosen={watch()}
        />
        <JudgeFields
          field={(name) => ({ ...register(name), error: errors[name]?.message })}
          streaming={watch("streaming")}
        />
        <TextField
          label="Default length"
          hint="Tokens, where a request names none."
          inputMode="numeric"
          error={errors.defaultMaxTokens?.message}
          {...register("defaultMaxTokens")}
        />
        <TextField
          label="Hold turns"
          hint="Answers of the target before the pilot is asked again; empty: never."
          inputMode="numeric"
          error={errors.holdTurns?.message}
          {...register("holdTurns")}
        />
        <TextField
          label="Most switches"
          hint="How often a conversation's cache is carried across; then the model prefills."
          inputMode="numeric"
          error={errors.maxSwitches?.message}
          {...register("maxSwitches")}
        />
      </div>
      <ShareFields field={(name) => ({ ...register(name), error: errors[name]?.message })} />
      {asked && edit.isDirty ? (
        <Preview
          options={trpc.route.preview.queryOptions({
            ...fieldsOf(asked),
            name: route?.name ?? null,
            newName: asked.name,
          })}
        />
      ) : null}
      <EditFooter edit={edit} onCancel={onDone} label={route ? "Store" : "Create"} />
    </form>
  );
}

function valuesOf(row: Route): Values {
  return {
    name: row.name,
    pairId: row.pairId,
    ...fieldsOfChoice(row.judgeTable),
    meanLogprob: row.judge.meanLogprob,
    minLogprob: row.judge.minLogprob,
    streaming: row.streaming,
    window: row.window,
    defaultMaxTokens: row.defaultMaxTokens,
    holdTurns: row.holdTurns ?? "",
    maxSwitches: row.maxSwitches,
    shareKept: row.shareKept,
    shareEscalated: row.shareEscalated,
    shareForced: row.shareForced,
  };
}

function fieldsOf(values: Omit<z.output<typeof Form>, "name">) {
  const { meanLogprob, minLogprob, judgeTableId, judgeBy, judgeShare, ...rest } = values;
  const judgeTable = choiceOfFields({ judgeTableId, judgeBy, judgeShare });
  return { ...rest, judgeTable, judge: { meanLogprob, minLogprob } };
}
