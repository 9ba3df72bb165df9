import { z } from "zod";
import { CorpusColumn } from "./corpus-name";

/**
 * The ways to fit a mapper, as `--method` takes them, with what each one does. The job's own list is METHODS in
 * packages/kv; a test holds the two together.
 */
export const METHODS = {
  ridge: "plain ridge on all heads, every row alike: the published baseline",
  attention: "rows weighted by the attention the target pays them",
  renorm: "keys brought back to the norm that the target's k_norm gives them",
  "renorm-first": "renorm with the first positions counted 32-fold",
  "renorm-attention": "renorm with rows weighted by attention",
  prenorm: "keys fitted before the target's k_norm, which then ends them",
  "prenorm-attention": "prenorm with rows weighted by attention",
  "head-local": "each head reads one source head of each layer, found in the data",
  "head-local-renorm": "head-local with renorm's ending",
  "head-local-renorm-attention": "head-local-renorm with rows weighted by attention",
} as const;
export type MethodName = keyof typeof METHODS;

/** "default" leaves the choice to the job: what measures best. */
export const MethodChoice = z.enum(["default", ...(Object.keys(METHODS) as MethodName[])]);
export type MethodChoice = z.infer<typeof MethodChoice>;

/** Tokens of a sequence at most, where no model says its context; packages/kv refuses more too. */
export const LONGEST_SEQ_LEN = 1_048_576;

/** Everything else a run may be asked for; it travels with the run to the worker and becomes the job's flags. */
export const CalibrationOptions = z.object({
  /** Adds the rows at 32 times the fitted length. */
  long: z.boolean().optional(),
  sequences: z.number().int().min(1).optional(),
  seq_len: z.number().int().min(1).max(LONGEST_SEQ_LEN).optional(),
  seed: z.number().int().min(0).optional(),
  corpus_column: CorpusColumn.optional(),
});
export type CalibrationOptions = z.infer<typeof CalibrationOptions>;

/** The job's flags for these options. */
export function optionFlags(options: CalibrationOptions): string[] {
  const named = [
    ["--sequences", options.sequences],
    ["--seq-len", options.seq_len],
    ["--seed", options.seed],
  ] as const;
  const flags = named.flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)]));
  // One word, so that no name can pass for an option.
  if (options.corpus_column !== undefined) flags.push(`--corpus-column=${options.corpus_column}`);
  return options.long ? [...flags, "--long"] : flags;
}
