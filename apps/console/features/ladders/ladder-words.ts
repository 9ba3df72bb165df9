import { correctPerSecond, type Ladder, targetOutcomes } from "@helm/contracts";
import { count, plural } from "../../ui/numbers";

/** The most clients that were all answered correctly. */
export function highestClean({ rungs }: Pick<Ladder, "rungs">): number | null {
  return rungs.findLast((rung) => rung.correct === rung.requests)?.clients ?? null;
}

/** Correct answers a second at the rung that gave most of them. */
export function best({ rungs }: Pick<Ladder, "rungs">): { clients: number; rate: number } {
  const rates = rungs.map((rung) => ({ clients: rung.clients, rate: correctPerSecond(rung) }));
  return rates.reduce((most, one) => (one.rate > most.rate ? one : most));
}

export function targetWords(ladder: Pick<Ladder, "targets" | "rungs">): string {
  const outcomes = targetOutcomes(ladder);
  if (outcomes.length === 0) return "none written down";
  const met = outcomes.filter((one) => one.met).length;
  return met === outcomes.length ? `all ${met} met` : `${met} of ${outcomes.length} met`;
}

/** How it ended, in a sentence. */
export function endWords({ rungs, stopped }: Pick<Ladder, "rungs" | "stopped">): string {
  const last = rungs.at(-1);
  if (stopped) return `Stopped at ${plural(stopped.clients, "client")}: ${RULES[stopped.rule]}.`;
  return `Every rung stood, up to ${plural(last?.clients ?? 0, "client")} at once.`;
}

export const RULES: Record<NonNullable<Ladder["stopped"]>["rule"], string> = {
  CORRUPTED: "an answer was not what the model says alone",
  UNTYPED_ERROR: "a request failed without a typed error",
  CANARY_FAILED: "the request sent alone afterwards failed",
  MEMORY_OVER_BUDGET: "the gateway held more memory than it may",
  INTER_TOKEN_LATENCY: "tokens came too slowly beside a request alone",
};

/** Why two ladders' figures may not be set against each other; null where they may. */
export function notComparable(a: Ladder, b: Ladder): string | null {
  if (a.load.prompts_sha256 !== b.load.prompts_sha256) return "they asked different prompts";
  if (a.load.max_tokens !== b.load.max_tokens)
    return `one asked for ${count(a.load.max_tokens)} tokens at most, the other for ${count(b.load.max_tokens)}`;
  if (a.model !== b.model) return `one asked ${a.model}, the other ${b.model}`;
  return null;
}

/** One row a rung that either climbed, by clients. */
export function chartRows(shown: Ladder, beside: Ladder | null) {
  const clients = [...new Set([...shown.rungs, ...(beside?.rungs ?? [])].map((rung) => rung.clients))];
  const at = (ladder: Ladder | null, n: number) => ladder?.rungs.find((rung) => rung.clients === n);
  return clients
    .sort((a, b) => a - b)
    .map((n) => {
      const [one, other] = [at(shown, n), at(beside, n)];
      return {
        clients: n,
        shown: one ? correctPerSecond(one) : null,
        beside: other ? correctPerSecond(other) : null,
        target: shown.targets.find((target) => target.clients === n)?.requests_per_second ?? null,
        shownFirst: one?.first_token_ms?.p95 ?? null,
        besideFirst: other?.first_token_ms?.p95 ?? null,
      };
    });
}
export type ChartRow = ReturnType<typeof chartRows>[number];
