import { setTimeout as pause } from "node:timers/promises";
import type { CalibrationEvent } from "@helm/contracts";
import type { Heartbeat } from "./heartbeat";

const ASK_EVERY_MS = 1_000;
/** A count that falls with every second is no line each. */
const SAY_EVERY_MS = 5_000;

/**
 * Waits until the control plane names nothing any more that the job has to wait for, and tells the run's log of it. A control
 * plane that is away is waited for, too. Ends early where `ended` says that the run was told to end.
 */
export async function waitForRoom(
  heart: Pick<Heartbeat, "waitsFor" | "now">,
  emit: (event: CalibrationEvent) => void,
  ended: () => boolean,
): Promise<void> {
  if (heart.waitsFor === null) return;
  const since = performance.now();
  const say = (message: string) =>
    emit({ v: 1, at: new Date().toISOString(), type: "log", level: "info", message });
  let told = "";
  let toldAt = Number.NEGATIVE_INFINITY;
  while (heart.waitsFor !== null && !ended()) {
    if (heart.waitsFor !== told && performance.now() - toldAt >= SAY_EVERY_MS) {
      told = heart.waitsFor;
      toldAt = performance.now();
      say(told);
    }
    heart.now();
    await pause(ASK_EVERY_MS);
  }
  const seconds = Math.round((performance.now() - since) / 1000);
  if (!ended()) say(`The nodes of this machine are parked after ${seconds} s: the calibration begins.`);
}
