import { LongRow } from "@helm/contracts";
import { scoreOf } from "./arm-score";
import { inSplit } from "./check-counts";
import type { CountsByArm } from "./pool";

const LONG_ARMS = ["mapper", "identity", "zero_cache"] as const;

/** A multiple of the fitted length that the run did not measure, and why. */
export interface LongLeftOut {
  multiple: LongRow["multiple"];
  left_out: string;
}

const Named = LongRow.pick({ multiple: true, left_out: true });

/** What a mapper's manifest says under `long` of rows that are not there. */
export function longLeftOut(manifest: Record<string, unknown> | null | undefined): LongLeftOut[] {
  const rows = Array.isArray(manifest?.long) ? manifest.long : [];
  return rows.flatMap((row) => {
    const { multiple, left_out } = Named.safeParse(row).data ?? {};
    return multiple && left_out ? [{ multiple, left_out }] : [];
  });
}

/** Rows beyond the fitted length, shortest first. They are no part of any other number. */
export function longRows(counts: CountsByArm, leftOut: LongLeftOut[] = []): LongRow[] {
  const multiples = [4, 32] as const;
  return multiples.flatMap((multiple): LongRow[] => {
    const rowsOf = (arm: (typeof LONG_ARMS)[number]) =>
      inSplit(counts[arm], "long").filter((row) => row.multiple === multiple);
    if (rowsOf("mapper").length === 0) {
      const reason = leftOut.find((row) => row.multiple === multiple)?.left_out;
      return reason ? [{ multiple, left_out: reason, arms: {} }] : [];
    }
    const scores = LONG_ARMS.map((arm) => {
      const rows = rowsOf(arm);
      return [arm, rows.length > 0 ? scoreOf(rows) : null] as const;
    });
    return [{ multiple, arms: Object.fromEntries(scores) as LongRow["arms"] }];
  });
}
