import { useQuery } from "@tanstack/react-query";
import { type Outputs, useTRPC } from "../../api/trpc";

export type Recorded = Outputs["ladder"]["list"][number];

/** The newest hundred: a ladder is run by a person, some in a week. */
export function useLadders() {
  const trpc = useTRPC();
  return useQuery(trpc.ladder.list.queryOptions({ limit: 100 }));
}
