import type { Context } from "../../context";
import type { Server } from "../../server/client";
import type { CalibrateOptions } from "./options";

type Reach = Awaited<ReturnType<Server["calibration"]["drainReach"]["query"]>>;

/** Before a run that drains is asked for: which nodes that would park. */
export async function noteDrain(
  { screen }: Context,
  server: Server,
  { room, device }: CalibrateOptions,
  pairId: string,
): Promise<void> {
  if (room !== "drain") return;
  for (const line of drainLines(await server.calibration.drainReach.query({ pairId, device })))
    screen.note(line);
}

export function drainLines({ workers }: Reach): string[] {
  if (workers.length === 0)
    return ["No worker that could take it is connected: what it drains is not known yet."];
  return workers.map(({ name, machineKnown, nodes }) => {
    if (!machineKnown)
      return `Worker ${name} does not say which machine it is on and is given no run that drains.`;
    if (nodes.length === 0) return `Worker ${name} would drain nothing: no connected node is on its machine.`;
    const said = nodes.map(({ name: node, running }) => `${node} (${running} running)`);
    return `Worker ${name} would drain the ${said.length === 1 ? "node" : "nodes"} ${said.join(", ")}.`;
  });
}
