import { wrap } from "../../../terminal/style";
import type { Reported } from "./reported";

/** The next steps, where there are any to take. */
export function adviceLines({ assessment }: Reported, width: number): string[] {
  const steps = (assessment.advice ?? []).map(({ code, message }) => `${code}: ${message}`);
  return steps.flatMap((step) => wrap(step, width - 2).map((line, at) => `${at === 0 ? "- " : "  "}${line}`));
}
