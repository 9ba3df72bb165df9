import { DECISION_REASONS, FALLBACK_REASONS, GATEWAY_ERRORS } from "@helm/contracts";
import { percent, plural } from "../../ui/numbers";
import type { Reason } from "./use-traffic";

const CLIENT_GONE = "the caller went away before the answer was whole";

/** A reason or an error's code in words; one of another version is shown as it is. */
export function reasonWords(code: string): string {
  const error = (GATEWAY_ERRORS as Record<string, readonly [number, string]>)[code];
  const words =
    (FALLBACK_REASONS as Record<string, string>)[code] ??
    (DECISION_REASONS as Record<string, string>)[code] ??
    error?.[1] ??
    (code === "client_gone" ? CLIENT_GONE : code);
  // The same words stand in a document, where a name is set off by marks.
  return words.replaceAll("`", "");
}

export const KIND_WORDS: Record<Reason["kind"], string> = {
  fallback: "no transfer",
  refusal: "turned away",
  failure: "failed",
  client_error: "client error",
  decision: "decided so",
};

type Proportion = { count: number; of: number; share: number; low: number; high: number };

/** "19.6 %, 95 % interval 19.0 to 20.2 %"; of few it is wide, and says of how many, and what they are: "judged". */
export function proportionWords(
  found: Proportion | null,
  what?: string,
): { value: string; interval: string } {
  if (!found) return { value: "none yet", interval: `nothing ${what ?? "of the kind"} in this range` };
  const low = (found.low * 100).toFixed(1);
  return {
    value: percent(found.share),
    interval: `95 % interval ${low} to ${percent(found.high)}, ${found.count.toLocaleString("en")} of ${found.of.toLocaleString("en")}${what ? ` ${what}` : ""}`,
  };
}

export function lengthWords(fromTokens: number): string {
  return fromTokens === 1 ? "1 token" : `${tokens(fromTokens)} to ${tokens(fromTokens * 2 - 1)}`;
}

function tokens(value: number): string {
  return value.toLocaleString("en");
}

/** Requests of a list narrowed to what was pressed; the range goes with it. */
export function requestsHref(
  range: { hours: number; tenant?: string; pair?: string },
  narrowed: Record<string, string>,
): string {
  const given = Object.entries({
    hours: String(range.hours),
    tenant: range.tenant,
    pair: range.pair,
    ...narrowed,
  });
  const query = new URLSearchParams(given.filter((pair): pair is [string, string] => Boolean(pair[1])));
  return `/traffic?${query}#requests`;
}

export function perSecond(requests: number, hours: number): string {
  const rate = requests / (hours * 3_600);
  return rate >= 0.1
    ? `${rate.toFixed(1)} a second`
    : `${plural(Math.round(rate * 3_600), "request")} an hour`;
}
