import type { Outputs } from "../../api/trpc";
import { share } from "../../ui/numbers";

type Mapper = Pick<
  Outputs["mapper"]["list"]["rows"][number],
  "id" | "pairId" | "state" | "score" | "developmentOnly"
>;
type Overview = Pick<Outputs["overview"]["helm"], "enabled" | "killSwitch" | "route">;

/** What production does once a mapper is activated or retired, said before it is done. */
export function consequence(
  move: "activate" | "retire",
  mapper: Mapper,
  active: Pick<Mapper, "score"> | null,
  overview: Overview | null,
): string {
  if (move === "retire" && mapper.state !== "ACTIVE")
    return "A retired mapper cannot be activated again. Nothing that is served changes.";
  const served = overview?.route?.pairId === mapper.pairId;
  const name = overview?.route?.name ?? "the route";
  const off = overview?.killSwitch ? "the kill switch is on" : !overview?.enabled ? "Helm is off" : null;
  const who = !served
    ? "No route uses this pair now, so no request changes."
    : off
      ? `${name} uses this pair, and ${off}: requests change once that does.`
      : `${name} uses this pair, so its escalations change as soon as the nodes have the new snapshot.`;
  if (move === "retire") {
    return `The pair is left without an active mapper: escalations are answered by the target reading the prompt itself, slower and with the same words. It cannot be activated again. ${who}`;
  }
  const before = active
    ? `The active one${active.score ? ` (retention ${share(active.score.retention.value)})` : ""} becomes INACTIVE`
    : "The pair becomes ELIGIBLE";
  const marked = mapper.developmentOnly ? " It was made on a CPU and serves on development nodes only." : "";
  const own = mapper.score ? ` (retention ${share(mapper.score.retention.value)})` : "";
  return `Nodes fetch this mapper${own}, prove it by a canary and then carry escalations across by it. ${before}. ${who}${marked}`;
}
