import type { Estimate } from "@helm/contracts";
import { signed } from "../../ui/numbers";

/** The gain over the pilot has one name, net rescue, and one unit: positions in 100. */
export function rescueText(rescue: Estimate | null): string | null {
  return rescue ? `${signed(100 * rescue.value, 1)} in 100` : null;
}

export function rescueInterval({ low, high }: Estimate): string {
  return `${signed(100 * low, 1)} to ${signed(100 * high, 1)}`;
}
