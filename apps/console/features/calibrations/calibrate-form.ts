import { type CalibrationOptions, CorpusColumn, CorpusName, MethodChoice } from "@helm/contracts";
import { z } from "zod";

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
  long: z.boolean(),
});
export type CalibrateForm = z.infer<typeof CalibrateForm>;

/** The run's options as the dialog has them, and what an earlier run had that the dialog does not ask. */
export function optionsOf(
  { long, column }: Pick<CalibrateForm, "long" | "column">,
  earlier: CalibrationOptions = {},
): CalibrationOptions {
  const { long: _, corpus_column: __, ...kept } = earlier;
  return { ...kept, ...(long && { long }), ...(column && { corpus_column: column }) };
}
