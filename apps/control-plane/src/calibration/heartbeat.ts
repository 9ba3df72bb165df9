import type { HeartbeatRequest, HeartbeatResponse } from "@helm/contracts";
import type { Call } from "../context";
import { unparkNodes } from "../park/park-nodes";
import { lookAtDrain } from "./drain-phase";
import { Fenced, holdLease } from "./lease";

/** Renews the lease and says what the worker should do. */
export async function heartbeat({
  ctx,
  input,
}: Call<HeartbeatRequest & { id: string }>): Promise<HeartbeatResponse> {
  try {
    const held = await holdLease(ctx, input.id, input.attempt);
    if (held.calibration.cancelRequestedAt) return { lease_ms: held.leaseMs, action: "cancel" };
    if (input.room_free) await unparkNodes(ctx, held.calibration);
    const { waitsFor, over } = await lookAtDrain(ctx, held);
    if (over) return { lease_ms: 0, action: "fenced" };
    return { lease_ms: held.leaseMs, action: "continue", waits_for: waitsFor };
  } catch (error) {
    if (error instanceof Fenced) return { lease_ms: 0, action: "fenced" };
    throw error;
  }
}
