import type { Outputs } from "../../api/trpc";

export type Node = Outputs["node"]["list"][number];
export type Worker = Outputs["worker"]["list"][number];

/** Documents that the node refused, with what it keeps. */
export function refusals({ nackReason, accessNackReason, generation, access }: Node): string[] {
  return [
    ...(nackReason
      ? [`It refused generation ${generation.desired} and keeps ${generation.active}: ${nackReason}`]
      : []),
    ...(accessNackReason
      ? [`It refused access list ${access.desired} and keeps ${access.acked}: ${accessNackReason}`]
      : []),
  ];
}
