import { FALLBACK_REASONS } from "@helm/contracts";
import type { Outputs } from "../../api/trpc";

export type Placement = Outputs["pair"]["placement"];
type Place = Pick<Placement, "placed" | "developmentOnly" | "refusal"> & {
  nodes: Pick<Placement["nodes"][number], "id" | "name" | "here" | "refusedBecause">[];
};

/** "every node", "n1, n2". */
export function placementWords({ placed, developmentOnly, nodes }: Place): string {
  if (!placed) return developmentOnly ? "every development node" : "every node";
  const here = nodes.filter((node) => node.here).map(({ name }) => name);
  return here.length === 0 ? "no node" : here.join(", ");
}

/** Why no node uses the pair now, as the nodes are told it; null where they may. */
export function refusalWords({ refusal }: Pick<Place, "refusal">): string | null {
  return refusal === null ? null : `${refusal}: ${FALLBACK_REASONS[refusal]}`;
}

/** Of one node: what keeps the pair from it comes before where it is placed. */
export function onNodeWords(placement: Place, nodeId: string): string {
  const here = placement.nodes.find(({ id }) => id === nodeId);
  const on = `it is placed on ${placementWords(placement)}`;
  const refused = refusalWords(placement);
  if (refused !== null) return `is not used (${refused}); ${on}`;
  return `${here?.here ? "may be used here" : (here?.refusedBecause ?? "is not placed here")}; ${on}`;
}
