import type { Context } from "../context";
import type { RouteOut } from "../route/schema";
import { compileRouting } from "../snapshot/compile-routing";

interface Facts {
  route: RouteOut | null;
  /** Names of enabled tenants. */
  enabled: string[];
  /** Connected nodes where the route's pair is READY. */
  ready: number;
  connected: number;
  killSwitch: boolean;
}

/** What production would do differently with the switch on, in words, from what stands in the database now. */
export async function describeTurningOn(
  ctx: Context,
  { route, enabled, ready, connected, killSwitch }: Facts,
): Promise<string> {
  if (killSwitch) return "Nothing while the kill switch is on: every request goes on being served natively.";
  if (!route) return "Nothing: no route exists. Register a pair first.";
  if (enabled.length === 0)
    return `Nothing yet: every tenant is excluded. Requests to ${route.name} go on being served by the target.`;
  const who =
    enabled.length === 1 ? `tenant ${enabled[0]}` : `${enabled.length} tenants (${enabled.join(", ")})`;
  const { pairs } = await compileRouting(ctx.db);
  const pair = pairs.find((row) => row.id === route.pairId);
  const pilot = pair?.pilot ?? "the pilot";
  const target = pair?.target ?? "the target";
  const base = `Requests of ${who} to ${route.name} would be answered by ${pilot} first`;
  if (!pair || pair.refusal !== null) {
    const reason = pair?.refusal ?? "NOT_CALIBRATED";
    return `Nothing yet: ${route.pairName} may not be used (${reason}), so requests of ${who} to ${route.name} go on being served by ${target}.`;
  }
  const where = `on ${ready} of ${connected} connected ${connected === 1 ? "node" : "nodes"} the mapper is ready`;
  const marked = pair.development ? " This mapper is for development nodes only." : "";
  return `${base}; the hard ones would escalate to ${target} with the cache carried across (${where}).${marked} Requests that name a model stay as they are.`;
}
