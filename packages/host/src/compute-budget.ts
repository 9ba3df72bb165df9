import type { ComputeBudget } from "@helm/pairing";
import { z } from "zod";

/** What a calibration may take of its device, as every program reads it from its environment. */
export const ComputeBudgetEnvironment = {
  /** Bytes that must be free for one to start. By default what one of the bundled pair takes, 1,724 MiB, and a fifth more. */
  HELM_COMPUTE_BUDGET_BYTES: z.coerce
    .number()
    .int()
    .min(1024 ** 2)
    .default(2048 * 1024 ** 2),
  /** Percent of a GPU's time that our own engines may take when one starts beside them. */
  HELM_COMPUTE_BUDGET_UTILISATION: z.coerce.number().int().min(0).max(100).default(80),
  /** Programs that watch GPUs and compute nothing there, by name. */
  HELM_GPU_OBSERVERS: z.string().default("nv-hostengine,dcgm,dcgm-exporter"),
};
const Given = z.object(ComputeBudgetEnvironment);

export function readComputeBudget(given: z.infer<typeof Given>): ComputeBudget {
  return {
    neededBytes: given.HELM_COMPUTE_BUDGET_BYTES,
    mostUtilisation: given.HELM_COMPUTE_BUDGET_UTILISATION,
    observers: given.HELM_GPU_OBSERVERS.split(",")
      .map((name) => name.trim())
      .filter(Boolean),
  };
}
