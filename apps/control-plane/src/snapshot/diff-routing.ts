import { DEFAULT_MAX_SWITCHES, NO_SHARES, type RouteShares } from "@helm/contracts";
import { z } from "zod";
import type { ContentPair, ContentRoute, RoutingContent } from "./routing-content";

/** One thing that two contents say differently, as data and in a sentence. */
export const RoutingDifference = z.object({
  kind: z.enum(["setting", "route", "pair"]),
  /** The route's name or the pair's id; empty for a setting. */
  id: z.string(),
  name: z.string(),
  field: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  sentence: z.string(),
});
export type RoutingDifference = z.infer<typeof RoutingDifference>;

/** Names for what a document knows by id alone. */
export interface Names {
  node(id: string): string;
  pair(id: string): string | undefined;
}

export function diffRouting(from: RoutingContent, to: RoutingContent, names: Names): RoutingDifference[] {
  const pairName = (id: string) => {
    const found = [...to.pairs, ...from.pairs].find((pair) => pair.id === id);
    return found ? nameOf(found) : (names.pair(id) ?? id);
  };
  const differences: RoutingDifference[] = [];
  if (from.helm_enabled !== to.helm_enabled) {
    const [before, after] = [from.helm_enabled, to.helm_enabled].map((on) => (on ? "on" : "off"));
    differences.push(
      difference({ kind: "setting", id: "", name: "Helm" }, "switch", before ?? null, after ?? null),
    );
  }
  for (const [before, after] of pairUp(from.routes, to.routes, ({ name }) => name)) {
    differences.push(...diffRoute(before, after, pairName));
  }
  for (const [before, after] of pairUp(from.pairs, to.pairs, ({ id }) => id)) {
    differences.push(...diffPair(before, after, names));
  }
  return differences;
}

function diffRoute(
  before: ContentRoute | undefined,
  after: ContentRoute | undefined,
  pairName: (id: string) => string,
): RoutingDifference[] {
  const name = (after ?? before)?.name ?? "";
  const subject = { kind: "route" as const, id: name, name: `Route ${name}` };
  const words = (route: ContentRoute): Record<string, string> => ({
    pair: pairName(route.pair_id),
    judge: route.judge.version,
    "mean log-probability": String(route.judge.mean_logprob),
    "minimum log-probability": String(route.judge.min_logprob),
    "judge table": judgeWords(route.judge.table),
    streaming: route.streaming,
    window: `${route.window} tokens`,
    "default max_tokens": String(route.default_max_tokens),
    "hold turns": route.hold_turns === null ? "never returns" : String(route.hold_turns),
    "most switches": String(route.max_switches ?? DEFAULT_MAX_SWITCHES),
    shares: sharesWords(route.shares ?? NO_SHARES),
  });
  return diffWords(subject, before && words(before), after && words(after));
}

function sharesWords({ kept_also_target, escalated_also_native, forced_escalation }: RouteShares): string {
  return `kept ${kept_also_target}, escalated ${escalated_also_native}, forced ${forced_escalation}`;
}

function judgeWords(table: ContentRoute["judge"]["table"]): string {
  if (!table) return "none";
  return `${table.sha256.slice(0, 12)}, escalates from ${table.threshold.toFixed(3)}`;
}

function diffPair(
  before: ContentPair | undefined,
  after: ContentPair | undefined,
  names: Names,
): RoutingDifference[] {
  const either = after ?? before;
  if (!either) return [];
  const subject = { kind: "pair" as const, id: either.id, name: `Pair ${nameOf(either)}` };
  const words = (pair: ContentPair): Record<string, string> => ({
    mapper: pair.mapper_sha256?.slice(0, 12) ?? "none",
    use: pair.refusal === null ? "allowed" : `refused (${pair.refusal})`,
    nodes: placementWords(pair.nodes, names),
    "made for": pair.development ? "development nodes" : "any node",
    "pilot's weights": pair.pilot_weights_sha256?.slice(0, 12) ?? "unknown",
    "target's weights": pair.target_weights_sha256?.slice(0, 12) ?? "unknown",
  });
  return diffWords(subject, before && words(before), after && words(after));
}

export function placementWords(nodes: readonly string[] | null | undefined, names: Names): string {
  if (!nodes) return "every node";
  return nodes.length === 0 ? "no node" : nodes.map((id) => names.node(id)).join(", ");
}

type Subject = Pick<RoutingDifference, "kind" | "id" | "name">;

function diffWords(
  subject: Subject,
  before: Record<string, string> | undefined,
  after: Record<string, string> | undefined,
): RoutingDifference[] {
  if (!before && after) return [difference(subject, "existence", null, describe(after))];
  if (before && !after) return [difference(subject, "existence", describe(before), null)];
  return Object.keys({ ...before, ...after })
    .filter((field) => before?.[field] !== after?.[field])
    .map((field) => difference(subject, field, before?.[field] ?? null, after?.[field] ?? null));
}

function difference(
  subject: Subject,
  field: string,
  before: string | null,
  after: string | null,
): RoutingDifference {
  const sentence =
    before === null
      ? `${subject.name} is new: ${after}`
      : after === null
        ? goneWords(subject, before)
        : `${subject.name}, ${field}: ${before} becomes ${after}`;
  return { ...subject, field, before, after, sentence };
}

/** A route's name is nothing else: without it the gateway knows no such model. */
function goneWords({ kind, name, id }: Subject, before: string): string {
  const callers = kind === "route" ? ` Callers that ask for ${id} get 404 model_not_found from then on.` : "";
  return `${name} is gone: ${before}.${callers}`;
}

function describe(words: Record<string, string>): string {
  return Object.entries(words)
    .map(([field, word]) => `${field} ${word}`)
    .join(", ");
}

function nameOf(pair: ContentPair): string {
  return `${pair.pilot} -> ${pair.target}`;
}

function pairUp<T>(
  from: readonly T[],
  to: readonly T[],
  keyOf: (one: T) => string,
): [T | undefined, T | undefined][] {
  const before = new Map(from.map((one) => [keyOf(one), one]));
  const after = new Map(to.map((one) => [keyOf(one), one]));
  const keys = [...new Set([...before.keys(), ...after.keys()])].sort();
  return keys.map((key) => [before.get(key), after.get(key)]);
}
