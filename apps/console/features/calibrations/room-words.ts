import type { CalibrationRoom } from "@helm/contracts";
import type { Outputs } from "../../api/trpc";

type Reach = Outputs["calibration"]["drainReach"];

/** Where a run finds its memory, in one sentence each. */
export const ROOM_WORDS: Record<CalibrationRoom, { name: string; sentence: string }> = {
  beside: {
    name: "Beside the engines",
    sentence: "Serving goes on, and the run has the memory that is free beside it.",
  },
  drain: {
    name: "After a drain",
    sentence:
      "The nodes on the worker's machine take no new requests, their engines are stopped so that their memory is free, and they come back by a canary when the run ends.",
  },
};

/** What a drain would do now, as far as it can be said before a worker has taken the run. */
export function reachWords({ workers }: Reach): string {
  if (workers.length === 0)
    return "No worker that could take it is connected, so nothing can be said yet of what it drains.";
  const known = workers.filter(({ machineKnown }) => machineKnown);
  if (known.length === 0)
    return "No worker that could take it says which machine it is on: the run would wait until one does.";
  return known.map(oneWorker).join(" ");
}

function oneWorker({ name, nodes }: Reach["workers"][number]): string {
  if (nodes.length === 0)
    return `Worker ${name}: no connected node is on its machine, so nothing is drained.`;
  const said = nodes.map(({ name: node, running }) => (running > 0 ? `${node} (${running} running)` : node));
  return `Worker ${name} drains the ${said.length === 1 ? "node" : "nodes"} ${said.join(", ")}.`;
}

/** Routes that one of the workers' drains would leave without a node. */
export function unservedRoutes({ workers }: Reach): string[] {
  return [...new Set(workers.flatMap(({ unserved }) => unserved))];
}
