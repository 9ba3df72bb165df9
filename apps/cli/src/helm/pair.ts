import type { Context } from "../context";
import { Failure } from "../failure";
import { requireServer, type Server } from "../server/client";
import { table } from "../terminal/style";
import { impossible } from "./check";

const POLL_MS = 500;
const PATIENCE_MS = 120_000;

export async function listPairs({ config, screen }: Context): Promise<void> {
  const pairs = await (await requireServer(config)).pair.list.query();
  screen.answer({ type: "pairs", pairs }, () => {
    if (pairs.length === 0)
      return ["No pair yet. Register one with lifeboat helm pair register SOURCE TARGET."];
    const rows = pairs.map((pair) => [
      `${pair.source.id} -> ${pair.target.id}`,
      pair.calibrating ? `${pair.status}, CALIBRATING` : pair.status,
      pair.lastScore ? pair.lastScore.retention.value.toFixed(3) : "-",
      pair.lastScore
        ? `${pair.lastScore.retention.low.toFixed(3)} - ${pair.lastScore.retention.high.toFixed(3)}`
        : "-",
      pair.gate.toFixed(2),
      [pair.control ? "control" : "", pair.developmentOnly ? "development" : ""].filter(Boolean).join(", "),
    ]);
    return table(["pair", "status", "retention", "95 % interval", "gate", "remarks"], rows, [2, 3, 4]);
  });
}

export async function registerPair(
  context: Context,
  sourceModel: string,
  targetModel: string,
): Promise<void> {
  const server = await requireServer(context.config);
  const pairId = await registerAndWait(context, server, sourceModel, targetModel);
  context.screen.answer({ type: "registered", pairId, source: sourceModel, target: targetModel }, () => [
    `Registered ${sourceModel} -> ${targetModel}. Calibrate it with lifeboat helm calibrate.`,
  ]);
}

/** Waits until a worker has looked at both models. Errors: Failure 3 with all causes, 5 where one cannot be read. */
export async function registerAndWait(
  context: Context,
  server: Server,
  sourceModel: string,
  targetModel: string,
): Promise<string> {
  await requireKnown(server, sourceModel, targetModel);
  const { registrationId } = await server.pair.register.mutate({ sourceModel, targetModel });
  context.screen.note(`waiting for a worker to look at ${sourceModel} and ${targetModel}`);
  for (let waited = 0; waited < PATIENCE_MS; waited += POLL_MS) {
    const found = await server.pair.registration.query({ id: registrationId });
    switch (found.state) {
      case "REGISTERED":
        if (found.pairId) return found.pairId;
        break;
      case "REFUSED":
        throw impossible({ source: sourceModel, target: targetModel }, { causes: found.causes, notes: [] });
      case "FAILED":
        throw new Failure(
          5,
          "MODEL_UNREADABLE",
          found.message ?? "A worker could not read one of the models.",
        );
      case "PENDING":
        break;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Failure(
    1,
    "NO_WORKER",
    "No worker looked at the models within two minutes. Look at lifeboat helm worker list.",
  );
}

/** A model that no connected worker has would never be looked at. Errors: Failure 5 with the models there are. */
async function requireKnown(server: Server, ...models: string[]): Promise<void> {
  const connected = (await server.worker.list.query()).filter((worker) => worker.connected);
  if (connected.length === 0) return;
  const there = [...new Set(connected.flatMap((worker) => worker.models))].sort();
  const missing = [...new Set(models)].filter((model) => !there.includes(model));
  if (missing.length === 0) return;
  throw new Failure(
    5,
    "MODEL_UNKNOWN",
    `No connected worker has ${missing.join(" or ")}. They have ${there.join(", ") || "none"}; put its folder under HELM_MODEL_ROOTS on a worker's host.`,
  );
}
