import { type CalibrationUpdate, ChangedHint } from "@helm/contracts";
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
export function personRoom(id: string): string {
  return `person:${id}`;
}

/** What control planes say to each other, beside what Socket.IO's adapter says for them. */
const UPDATE = "control:update";
const DOCUMENTS = "control:documents";

/**
 * Everything the server says unasked, to the sockets of every control plane of this database. Rows are the truth; a hint
 * that is lost costs a poll, never a fact.
 */
export class Hub {
  private readonly throttle: UpdateThrottle;
  /** Set where the /nodes namespace is opened: sends the newest documents to every node connected here. */
  pushDocumentsHere: () => void = () => {};
  /** Set where namespaces are opened: asks of every socket connected here whether it may still be. */
  readonly rechecks: (() => void)[] = [];

  constructor(readonly io: Server) {
    this.throttle = new UpdateThrottle(100, (update) => {
      this.io.of("/console").local.to(calibrationRoom(update.calibration)).emit("calibration:update", update);
    });
    this.io.of("/console").on(UPDATE, (update: CalibrationUpdate) => this.throttle.push(update));
    this.io.of("/nodes").on(DOCUMENTS, () => this.pushDocumentsHere());
  }

  hint(topic: ChangedHint["topic"]): void {
    this.io.of("/console").emit("changed", { topic } satisfies ChangedHint);
  }

  /** Throttled where the sockets are: events of one run may reach several control planes. */
  updateCalibration(update: CalibrationUpdate): void {
    this.throttle.push(update);
    this.io.of("/console").serverSideEmit(UPDATE, update);
  }

  pushDocuments(): void {
    this.pushDocumentsHere();
    this.io.of("/nodes").serverSideEmit(DOCUMENTS);
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

  /** Who was removed, or whose role is another now: what is still allowed connects again. */
  cutPerson(userId: string): void {
    this.io.of("/console").in(personRoom(userId)).disconnectSockets(true);
  }

  cutHost(hostId: string): void {
    for (const namespace of ["/workers", "/nodes"])
      this.io.of(namespace).in(hostRoom(hostId)).disconnectSockets(true);
  }

  /** Something another control plane said may have been missed: everyone connected here reads the rows. */
  resync(): void {
    for (const topic of ChangedHint.shape.topic.options)
      this.io.of("/console").local.emit("changed", { topic } satisfies ChangedHint);
    this.io.of("/workers").local.emit("work");
    this.pushDocumentsHere();
    for (const recheck of this.rechecks) recheck();
  }

  close(): void {
    this.throttle.close();
    this.pushDocumentsHere = () => {};
    this.rechecks.length = 0;
  }
}
