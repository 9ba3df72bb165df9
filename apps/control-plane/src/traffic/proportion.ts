import { z } from "zod";

/** A share with its 95 % interval, and of how many. */
export const Proportion = z.object({
  count: z.number().int(),
  of: z.number().int(),
  share: z.number(),
  low: z.number(),
  high: z.number(),
});
export type Proportion = z.infer<typeof Proportion>;

const Z = 1.959964;

/** Wilson's interval: true to its name also where few were counted, or none of them. Null of nothing. */
export function proportion(count: number, of: number): Proportion | null {
  if (of <= 0) return null;
  const share = count / of;
  const scale = 1 + Z ** 2 / of;
  const centre = (share + Z ** 2 / (2 * of)) / scale;
  const half = (Z / scale) * Math.sqrt((share * (1 - share)) / of + Z ** 2 / (4 * of ** 2));
  return { count, of, share, low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}
