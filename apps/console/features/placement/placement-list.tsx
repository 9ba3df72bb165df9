"use client";

import { useQuery } from "@tanstack/react-query";
import { QueryView } from "../../api/query-view";
import { useTRPC } from "../../api/trpc";
import { Empty } from "../../ui/states";
import { pairName } from "../pairs/pair-words";
import { command } from "../shell/commands";
import { PlacePair } from "./placement-dialog";
import { onNodeWords, placementWords, refusalWords } from "./placement-words";

/** Every pair, and whether it may be used on this node. */
export function PlacementList({ nodeId }: { nodeId: string }) {
  const trpc = useTRPC();
  const pairs = useQuery(trpc.pair.list.queryOptions());
  return (
    <QueryView query={pairs} label="Loading pairs">
      {(rows) =>
        rows.length === 0 ? (
          <Empty title="No pair yet" command={command.registerPair("SOURCE", "TARGET")}>
            Register one; it is on every node until it is placed.
          </Empty>
        ) : (
          <ul className="divide-y divide-line">
            {rows.map((pair) => (
              <PlacementRow key={pair.id} pairId={pair.id} nodeId={nodeId} />
            ))}
          </ul>
        )
      }
    </QueryView>
  );
}

function PlacementRow({ pairId, nodeId }: { pairId: string; nodeId: string }) {
  const trpc = useTRPC();
  const placement = useQuery(trpc.pair.placement.queryOptions({ id: pairId }));
  if (!placement.data) return null;
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1 py-2 sm:flex-nowrap">
      <span>
        <span className="font-medium">{pairName(placement.data.name)}</span>{" "}
        <span className="text-ink-soft">{onNodeWords(placement.data, nodeId)}</span>
      </span>
      <PlacePair placement={placement.data} />
    </li>
  );
}

/** Of one pair, for its own page. */
export function PlacementOfPair({ pairId }: { pairId: string }) {
  const trpc = useTRPC();
  const placement = useQuery(trpc.pair.placement.queryOptions({ id: pairId }));
  return (
    <QueryView query={placement} label="Loading the placement" rows={1}>
      {(data) => (
        <div className="flex flex-wrap items-center justify-between gap-3">
          <p>
            This pair {data.refusal ? "is placed" : "may be used"} on{" "}
            <span className="font-medium">{placementWords(data)}</span>.
            {data.refusal ? (
              <span className="text-ink-soft"> It is not used: {refusalWords(data)}.</span>
            ) : null}
            {data.developmentOnly ? (
              <span className="text-ink-soft"> It is kept to development nodes.</span>
            ) : null}
          </p>
          <PlacePair placement={data} />
        </div>
      )}
    </QueryView>
  );
}
