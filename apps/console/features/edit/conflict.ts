import { type ConflictChange, ConflictDetails } from "@helm/contracts";
import { problemOf } from "../../api/errors";

/** Somebody else was faster: who, when, what they changed, and the row as it stands now. */
export interface Conflict<Row> {
  by: string;
  at: Date | null;
  changes: ConflictChange[];
  current: Row;
}

/** The conflict that an error tells of, or null where it is any other error. */
export function conflictOf<Row extends { revision: number }>(error: unknown): Conflict<Row> | null {
  const { code, details } = problemOf(error);
  if (code !== "CONFLICT") return null;
  const parsed = ConflictDetails.safeParse(details);
  if (!parsed.success) return null;
  const { changedBy, changedAt, changes, current } = parsed.data;
  return {
    by: changedBy ?? "Someone else",
    at: changedAt ? new Date(changedAt) : null,
    changes,
    // The server answers with what the same row's own query returns; its type is the caller's to name.
    current: current as unknown as Row,
  };
}

/** Values as a person reads them, where a form has no better words. */
export function plainValue(value: unknown): string {
  if (value === null || value === undefined || value === "") return "none";
  if (typeof value === "boolean") return value ? "on" : "off";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export interface FieldWords {
  /** By the field's path in the row, "judge.meanLogprob"; a field without words is shown by its path. */
  labels: Record<string, string>;
  show?: (field: string, value: unknown) => string;
}
