import {
  type CalibrationOptions,
  CalibrationRoom,
  CorpusColumn,
  CorpusName,
  LONGEST_SEQ_LEN,
  MethodChoice,
} from "@helm/contracts";
import { z } from "zod";

/** Left empty it is the corpus's own, or the default. */
const whole = (least: number, most = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .trim()
    .refine(
      (given) => given === "" || (/^\d+$/.test(given) && Number(given) >= least && Number(given) <= most),
      `A whole number from ${least} on, or nothing.`,
    );

/** What the calibrate dialog asks; names are checked by the rules that the server goes by. */
export const CalibrateForm = z.object({
  method: MethodChoice,
  k: z.coerce.number<number>().int("A whole number.").min(1, "At least 1.").max(64, "At most 64."),
  corpus: z.string().trim().pipe(CorpusName),
  column: z
    .string()
    .trim()
    .pipe(z.union([z.literal(""), CorpusColumn])),
  device: z.enum(["auto", "cuda", "rocm", "cpu"]),
  sequences: whole(1),
  seqLen: whole(1, LONGEST_SEQ_LEN),
  seed: whole(0),
  long: z.boolean(),
  room: CalibrationRoom,
  acceptNoServing: z.boolean(),
});
export type CalibrateForm = z.infer<typeof CalibrateForm>;

type Asked = Pick<CalibrateForm, "long" | "column" | "sequences" | "seqLen" | "seed">;

/** The form's fields as an earlier run had them. */
export function askedOf(options: CalibrationOptions = {}): Asked {
  const text = (value: number | undefined) => (value === undefined ? "" : String(value));
  return {
    long: options.long ?? false,
    column: options.corpus_column ?? "",
    sequences: text(options.sequences),
    seqLen: text(options.seq_len),
    seed: text(options.seed),
  };
}

/** The run's options as the dialog has them; what is left empty is not asked for. */
export function optionsOf({ long, column, sequences, seqLen, seed }: Asked): CalibrationOptions {
  return {
    ...(long && { long }),
    ...(sequences && { sequences: Number(sequences) }),
    ...(seqLen && { seq_len: Number(seqLen) }),
    ...(seed && { seed: Number(seed) }),
    ...(column && { corpus_column: column }),
  };
}
