import type { CalibrationUpdate, ChangedHint } from "@helm/contracts";
import type { Server } from "socket.io";
import { UpdateThrottle } from "./calibration/update-throttle";

export function calibrationRoom(id: string): string {
  return `calibration:${id}`;
}
export function hostRoom(id: string): string {
  return `host:${id}`;
}
export function sessionRoom(id: string): string {
  return `session:${id}`;
}

/** Everything the server says unasked. Rows are the truth; a hint that is lost costs a poll, never a fact. */
export class Hub {
  private readonly throttle: UpdateThrottle;
  /** Set where the /nodes namespace is opened: sends the newest documents to every connected node. */
  pushDocuments: () => void = () => {};

  constructor(readonly io: Server) {
    this.throttle = new UpdateThrottle(100, (update) => {
      this.io.of("/console").to(calibrationRoom(update.calibration)).emit("calibration:update", update);
    });
  }

  hint(topic: ChangedHint["topic"]): void {
    this.io.of("/console").emit("changed", { topic } satisfies ChangedHint);
  }

  updateCalibration(update: CalibrationUpdate): void {
    this.throttle.push(update);
  }

  offerWork(): void {
    this.io.of("/workers").emit("work");
  }

  cancelJob(workerId: string, job: string): void {
    this.io.of("/workers").to(hostRoom(workerId)).emit("cancel", { job });
  }

  cutSession(sessionId: string): void {
    this.io.of("/console").in(sessionRoom(sessionId)).disconnectSockets(true);
  }

  cutHost(hostId: string): void {
    for (const namespace of ["/workers", "/nodes"])
      this.io.of(namespace).in(hostRoom(hostId)).disconnectSockets(true);
  }

  close(): void {
    this.throttle.close();
    this.pushDocuments = () => {};
  }
}
