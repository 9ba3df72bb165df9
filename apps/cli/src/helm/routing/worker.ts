import type { Context } from "../../context";
import { requireServer } from "../../server/client";
import { table } from "../../terminal/style";
import { pickByName } from "./pick";

export async function listWorkers({ config, screen }: Context): Promise<void> {
  const workers = await (await requireServer(config)).worker.list.query();
  screen.answer({ type: "workers", workers }, () => {
    if (workers.length === 0)
      return ["No worker has joined. Make a join token on the page Nodes and workers."];
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

export async function showWorker({ config, screen }: Context, name: string): Promise<void> {
  const server = await requireServer(config);
  const worker = pickByName(await server.worker.list.query(), name, "worker");
  screen.answer({ type: "worker", worker }, () =>
    table(
      ["", ""],
      [
        ["worker", `${worker.name} (${worker.id})`],
        [
          "connection",
          worker.connected ? "connected" : `away, last seen ${worker.lastSeenAt?.toISOString() ?? "never"}`,
        ],
        ["device", worker.development ? "cpu, development" : worker.device],
        ["hardware", `${worker.hardware}: ${worker.hardwareSentence}`],
        ["doing", worker.runningCalibrationId ?? worker.waiting ?? "idle"],
        [
          "nodes beside",
          worker.nodesBeside === null
            ? "not reported"
            : worker.nodesBeside.join(", ") || "none on its machine",
        ],
        ["models", worker.models.join(", ") || "not reported"],
        ["corpora", worker.corpora.join(", ") || "not reported"],
        ["version", worker.version],
        ["joined", worker.joinedAt.toISOString()],
      ],
    ).slice(1),
  );
}

export async function revokeWorker({ config, screen }: Context, name: string): Promise<void> {
  const server = await requireServer(config);
  const { id } = pickByName(await server.worker.list.query(), name, "worker");
  await server.host.revoke.mutate({ id });
  screen.answer({ type: "revoked", id, name }, () => [
    `${name} is revoked: its connection is cut and its credential opens nothing any more.`,
  ]);
}
