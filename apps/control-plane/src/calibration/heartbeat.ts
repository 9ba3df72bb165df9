import type { HeartbeatRequest, HeartbeatResponse } from "@helm/contracts";
import type { Call } from "../context";
import { Fenced, holdLease } from "./lease";

/** Renews the lease and says what the worker should do. */
export async function heartbeat({
  ctx,
  input,
}: Call<HeartbeatRequest & { id: string }>): Promise<HeartbeatResponse> {
  try {
    const { calibration, leaseMs } = await holdLease(ctx, input.id, input.attempt);
    return { lease_ms: leaseMs, action: calibration.cancelRequestedAt ? "cancel" : "continue" };
  } catch (error) {
    if (error instanceof Fenced) return { lease_ms: 0, action: "fenced" };
    throw error;
  }
}
