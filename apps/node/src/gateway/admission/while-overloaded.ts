import { isEngineError } from "../../engine/engine-error";
import { isOverloadStatus } from "../errors/gateway-error";
import type { Exchange, GatewayResources } from "../exchange/resources";

/** An engine refuses before it does anything else: who was not refused by then was taken. */
const REFUSES_WITHIN_MS = 250;

/**
 * Asks an engine, and where it says that it has no room yet, again and again in front of everybody who was not let in. `ask` may
 * be called more than once as long as nothing has left for the client.
 */
export async function whileOverloaded<T>(
  gw: GatewayResources,
  x: Exchange,
  model: string,
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const gate = x.engine.gates.get(model);
    if (!isOverload(error) || !gate || x.signal.aborted) throw error;
    gw.metrics.admission.inc({ outcome: "retry" });
    return await gate.retries.again(error, {
      run: async (accepted) => {
        const timer = setTimeout(accepted, REFUSES_WITHIN_MS);
        try {
          return await ask();
        } finally {
          clearTimeout(timer);
        }
      },
      isOverload,
      deadlineMs: gw.limits.admissionMs,
      signal: x.signal,
    });
  }
}

function isOverload(error: unknown): boolean {
  return isEngineError(error) && error.failure.kind === "http" && isOverloadStatus(error.failure.status);
}
