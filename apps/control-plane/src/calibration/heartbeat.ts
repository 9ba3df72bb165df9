import type { HeartbeatRequest, HeartbeatResponse } from "@helm/contracts";
import type { Call } from "../context";
import { unparkNodes } from "../park/park-nodes";
import { parkAgain } from "./begin-drain";
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
    const { calibration, attempt, leaseMs } = held;
    if (input.room_free) {
      await unparkNodes(ctx, calibration);
      return { lease_ms: leaseMs, action: "continue" };
    }
    const drainUntil = await parkAgain(ctx, calibration, attempt);
    const { waitsFor, over } = await lookAtDrain(ctx, { ...held, attempt: { ...attempt, drainUntil } });
    if (over) return { lease_ms: 0, action: "fenced" };
    return { lease_ms: leaseMs, action: "continue", waits_for: waitsFor };
  } catch (error) {
    if (error instanceof Fenced) return { lease_ms: 0, action: "fenced" };
    throw error;
  }
}
