import { randomBytes } from "node:crypto";
import type { TestControlPlane } from "../testing/control-plane";
import { joinWorker, registerPair } from "../testing/worker";

/** One run through the worker's protocol, from the queue to an active mapper: what a loaded database is copied from. */
export async function templateRun(control: Pick<TestControlPlane, "request" | "as">): Promise<string> {
  const worker = await joinWorker(control);
  const { pairId } = await registerPair(control, worker, "pilot", "target");
  if (!pairId) throw new Error("the pair was not registered");
  const { id } = await control.as("operator").calibration.start({ pairId, device: "cpu" });
  const { finished } = await worker.run(randomBytes(1024), { share: 1 });
  if (finished.json?.state !== "SUCCEEDED")
    throw new Error(`the run ended as ${JSON.stringify(finished.json)}`);
  return id;
}
