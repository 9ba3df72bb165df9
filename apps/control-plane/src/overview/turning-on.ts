import type { StreamingMode } from "@helm/contracts";
import type { RouteOut } from "../route/schema";
import type { PairFacts } from "./route-facts";

interface Facts {
  routes: RouteOut[];
  /** By pair id. */
  facts: ReadonlyMap<string, PairFacts>;
  tenants: { name: string; enabled: boolean; streaming: StreamingMode | null; transferOff: boolean | null }[];
  killSwitch: boolean;
}

const NAMED = 5;

/** What production would do differently with the switch on, in words, from what stands in the database now. */
export function describeTurningOn({ routes, facts, tenants, killSwitch }: Facts): string {
  if (killSwitch) return "Nothing while the kill switch is on: every request goes on being served natively.";
  if (routes.length === 0) return "Nothing: no route exists. Register a pair first.";
  const enabled = tenants.filter((tenant) => tenant.enabled);
  if (enabled.length === 0) {
    const names = list(routes.map(({ name }) => name));
    return `Nothing yet: every tenant is excluded. Requests to ${names} go on being served by the target.`;
  }
  const who =
    enabled.length === 1
      ? `tenant ${enabled[0]?.name}`
      : `${enabled.length} tenants (${list(enabled.map(({ name }) => name))})`;
  const said = routes.map((route) => routeSentence(route, facts.get(route.pairId), who));
  const usable = said.filter(({ usable }) => usable);
  const beginning = usable.length === 0 ? "Nothing yet: " : "";
  const sentences = said.map(({ sentence }) => sentence).join(" ");
  const rest = usable.length === 0 ? "" : `${ownWays(enabled)} Requests that name a model stay as they are.`;
  return `${beginning}${sentences}${rest}`;
}

function routeSentence(
  route: RouteOut,
  pair: PairFacts | undefined,
  who: string,
): { usable: boolean; sentence: string } {
  if (!pair || pair.refusal !== null) {
    const reason = pair?.refusal ?? "NOT_CALIBRATED";
    const target = pair?.target ?? "the target";
    return {
      usable: false,
      sentence: `${route.pairName} may not be used (${reason}), so requests of ${who} to ${route.name} go on being served by ${target}.`,
    };
  }
  const { pilot, target, ready, connected, development } = pair;
  const where = `on ${ready} of ${connected} connected ${connected === 1 ? "node" : "nodes"} the mapper is ready`;
  const marked = development ? " This mapper is for development nodes only." : "";
  const base = `Requests of ${who} to ${route.name} would be answered by ${pilot} first`;
  return {
    usable: true,
    sentence:
      route.streaming === "stream"
        ? `${base} and streamed at once; only an agent's request escalates to ${target} (${where}).${marked}`
        : `${base}; the hard ones would escalate to ${target} with the cache carried across (${where}).${marked}`,
  };
}

/** Tenants for whom it is otherwise, by an override of their own. */
function ownWays(enabled: Facts["tenants"]): string {
  const native = enabled.filter(({ transferOff }) => transferOff === true).map(({ name }) => name);
  const streams = enabled.filter(({ streaming }) => streaming === "stream").map(({ name }) => name);
  return [
    native.length > 0 ? ` For ${list(native)} no cache is carried across.` : "",
    streams.length > 0
      ? ` For ${list(streams)} everything streams at once and the judge escalates nothing.`
      : "",
  ].join("");
}

function list(names: string[]): string {
  const rest = names.length - NAMED;
  return rest > 0 ? `${names.slice(0, NAMED).join(", ")} and ${rest} more` : names.join(", ");
}
