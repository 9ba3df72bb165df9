import type { LadderRule, LadderRung } from "@helm/contracts";
import { formatBytes } from "../../terminal/style";
import type { Golden } from "./golden";
import type { RungFound } from "./rung";

export interface Bounds {
  maxItlRatio: number;
  maxMemoryBytes: number | null;
}

/** Every rule that a rung broke. `canary` says what is wrong with the request that was sent alone after it. */
export function brokenRules(
  { rung, untyped, corruptedPrompt }: RungFound,
  golden: Pick<Golden, "alone">,
  bounds: Bounds,
  canary: string | null,
): LadderRung["broke"] {
  const broke: LadderRung["broke"] = [];
  const add = (rule: LadderRule, message: string) => broke.push({ rule, message: message.slice(0, 300) });
  if (rung.corrupted > 0)
    add(
      "CORRUPTED",
      `${rung.corrupted} of ${rung.requests} answers are not what the model says alone, the first to "${corruptedPrompt}"`,
    );
  if (untyped !== null) add("UNTYPED_ERROR", untyped);
  if (canary !== null) add("CANARY_FAILED", canary);
  if (bounds.maxMemoryBytes !== null && (rung.memory_bytes ?? 0) > bounds.maxMemoryBytes)
    add(
      "MEMORY_OVER_BUDGET",
      `the gateway held ${formatBytes(rung.memory_bytes ?? 0)} of ${formatBytes(bounds.maxMemoryBytes)}`,
    );
  const [under, alone] = [rung.itl_ms?.p50 ?? null, golden.alone.itl_ms];
  if (under !== null && alone !== null && alone > 0 && under / alone > bounds.maxItlRatio)
    add(
      "INTER_TOKEN_LATENCY",
      `${under.toFixed(1)} ms between tokens is ${(under / alone).toFixed(2)} times the ${alone.toFixed(1)} ms of a request alone; ${bounds.maxItlRatio} was allowed`,
    );
  return broke;
}

/** The rule that ends the climb here. On a CPU tokens come slower by nature: that is reported and ends nothing. */
export function stoppingRule(broke: LadderRung["broke"], development: boolean): LadderRule | null {
  return broke.find(({ rule }) => rule !== "INTER_TOKEN_LATENCY" || !development)?.rule ?? null;
}
