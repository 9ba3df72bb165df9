"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useEffect, useRef, useState } from "react";
import { type DefaultValues, type FieldValues, type Path, type PathValue, useForm } from "react-hook-form";
import { z } from "zod";
import { problemOf } from "../../api/errors";
import { type Conflict, conflictOf, type FieldWords, plainValue } from "./conflict";

export interface EditOptions<Row extends { revision: number }, Input extends FieldValues, Output> {
  /** The row as the query has it now; it may change under the form, which keeps what is being edited. */
  row: Row;
  schema: z.ZodType<Output, Input>;
  valuesOf: (row: Row) => Input;
  save: (values: Output, revision: number) => Promise<Row>;
  onStored: (row: Row) => void;
  /** "the route helm-auto", for sentences about it. */
  what: string;
  words: FieldWords;
  /** The form's field that a field of the row is edited in, where the two are named differently. */
  fieldOf?: (rowField: string) => string;
}

/**
 * A form over a row that two people may have open. It is opened with what stood then, and a refetch never wipes it:
 * while nothing was typed it follows the row, afterwards it only says that the row moved on. What is saved over a
 * revision that is not the newest comes back as a conflict, which is shown with who changed what.
 */
export function useEditForm<Row extends { revision: number }, Input extends FieldValues, Output>({
  row,
  schema,
  valuesOf,
  save,
  onStored,
  what,
  words,
  fieldOf = (field) => field.split(".").at(-1) ?? field,
}: EditOptions<Row, Input, Output>) {
  const base = useRef(row);
  const [conflict, setConflict] = useState<Conflict<Row> | null>(null);
  /** A conflict that was looked at and not decided: it stays beside the form. */
  const [seen, setSeen] = useState<Conflict<Row> | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const form = useForm<Input, unknown, Output>({
    // The resolver's own types know concrete schemas only.
    resolver: zodResolver(schema as never) as never,
    defaultValues: valuesOf(row) as DefaultValues<Input>,
  });
  const { isDirty, dirtyFields, isSubmitting } = form.formState;

  const restart = (from: Row) => {
    base.current = from;
    form.reset(valuesOf(from));
    setSeen(null);
    setProblem(null);
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new revision of the row is news
  useEffect(() => {
    if (row.revision > base.current.revision && !isDirty) restart(row);
  }, [row.revision, isDirty]);

  const store = form.handleSubmit(async (values) => {
    setProblem(null);
    try {
      const stored = await save(values, base.current.revision);
      setConflict(null);
      restart(stored);
      onStored(stored);
    } catch (error) {
      const clash = conflictOf<Row>(error);
      setConflict(clash);
      if (!clash && !placeIssues(error)) setProblem(problemOf(error).message);
    }
  });

  /** The server's word on a single field stands at that field. */
  const placeIssues = (error: unknown): boolean => {
    const issues = Issues.safeParse(problemOf(error).details.issues);
    const known = Object.keys(form.getValues());
    const placed = (issues.data ?? []).filter(({ path }) => known.includes(fieldOf(path)));
    for (const { path, message } of placed) form.setError(fieldOf(path) as Path<Input>, { message });
    return placed.length > 0;
  };

  return {
    form,
    /** Somebody stored a newer revision while this form was being filled in. */
    movedOn: isDirty && row.revision > base.current.revision,
    isDirty,
    isSubmitting,
    problem,
    conflict,
    seen,
    what,
    words,
    submit: store,
    /** What this person wants for a field of the row, as text, where they touched it. */
    mine: (rowField: string): string | null => {
      const field = fieldOf(rowField);
      if (!(dirtyFields as Record<string, unknown>)[field]) return null;
      const value: unknown = form.getValues(field as Path<Input>);
      return (words.show ?? ((_: string, given: unknown) => plainValue(given)))(rowField, value);
    },
    keepTheirs: () => {
      const current = conflict?.current ?? row;
      setConflict(null);
      restart(current);
    },
    /** Only what was touched here goes over their row; what they changed elsewhere stays. */
    putMine: async () => {
      const current = (conflict ?? seen)?.current;
      if (!current) return;
      const touched = Object.keys(dirtyFields).map((field) => {
        const path = field as Path<Input>;
        return [path, form.getValues(path)] as const;
      });
      restart(current);
      for (const [path, value] of touched)
        form.setValue(path, value as PathValue<Input, Path<Input>>, { shouldDirty: true });
      await store();
    },
    look: () => {
      setSeen(conflict);
      setConflict(null);
    },
  };
}

export type EditForm = ReturnType<typeof useEditForm<{ revision: number }, FieldValues, unknown>>;

const Issues = z.array(z.object({ path: z.string(), message: z.string() }));
