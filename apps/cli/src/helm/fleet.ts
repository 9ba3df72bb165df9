import type { Context } from "../context";
import { requireServer } from "../server/client";
import { table } from "../terminal/style";

export async function listNodes({ config, screen }: Context): Promise<void> {
  const nodes = await (await requireServer(config)).node.list.query();
  screen.answer({ type: "nodes", nodes }, () => {
    if (nodes.length === 0) return ["No node has joined."];
    const rows = nodes.map((node) => [
      node.name,
      node.connected ? "connected" : "away",
      node.engine ?? "-",
      node.development ? "cpu, development" : node.device,
      `${node.generation.desired} / ${node.generation.acked} / ${node.generation.active}`,
      node.readiness ? node.readiness.pairs.map((pair) => pair.code ?? pair.state).join(", ") : "-",
      node.url ?? "",
    ]);
    return table(
      ["node", "connection", "engine", "device", "desired / acked / active", "pairs", "gateway"],
      rows,
    );
  });
}

export async function listWorkers({ config, screen }: Context): Promise<void> {
  const workers = await (await requireServer(config)).worker.list.query();
  screen.answer({ type: "workers", workers }, () => {
    if (workers.length === 0) return ["No worker has joined."];
    const rows = workers.map((worker) => [
      worker.name,
      worker.connected ? "connected" : "away",
      worker.development ? "cpu, development" : worker.device,
      worker.runningCalibrationId ?? worker.waiting ?? "idle",
      worker.models.join(", "),
    ]);
    return table(["worker", "connection", "device", "doing", "models"], rows);
  });
}
