import { z } from "zod";

/** What a run found its corpus to be; part of its manifest. */
export const CorpusFacts = z.looseObject({
  name: z.string(),
  /** Of the files' bytes. */
  sha256: z.string().nullish(),
  /** Of the sequences in gate and report: two runs share it exactly where they were asked the same questions. */
  probes_sha256: z.string().nullish(),
  /** The digest that the name had in an earlier run on that host. */
  changed_from: z.string().nullish(),
  hub: z.looseObject({ repo: z.string(), commit: z.string() }).nullish(),
  notes: z.array(z.object({ code: z.string(), message: z.string() })).nullish(),
});
export type CorpusFacts = z.infer<typeof CorpusFacts>;
