import { type NodeAck, type NodeReadiness, type PlaygroundReply, SignedDocument } from "@helm/contracts";
import { type Logger, openHostSocket } from "@helm/host";
import type { Socket } from "socket.io-client";
import type { StatsCollector } from "../gateway/counters/stats";
import type { PlaygroundDoor } from "../playground/playground-door";
import type { TraceOutbox } from "../trace/trace-outbox";
import type { Configuration } from "./configuration";
import type { DocumentKind } from "./document-store";
import { ReportLane } from "./report-lane";

const STATS_EVERY_MS = 3_000;
const TRACES_EVERY_MS = 1_000;
const READINESS_EVERY_MS = 15_000;
const KNOCK_AGAIN_MS = 5_000;

export interface ControlLinkParts {
  controlUrl: string;
  credential: string;
  configuration: Configuration;
  stats: StatsCollector;
  traces: TraceOutbox;
  playground: Pick<PlaygroundDoor, "take" | "cancel">;
  readiness: () => NodeReadiness;
  /** A new document is in use. */
  onDocument: (kind: DocumentKind) => void;
}

/** The socket to the control plane: documents come in and are acknowledged, readiness and counters go out. */
export class ControlLink {
  private readonly socket: Socket;
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly lanes: ReportLane[];
  private refused = false;

  constructor(
    private readonly parts: ControlLinkParts,
    private readonly log: Logger,
  ) {
    const { controlUrl, credential } = parts;
    this.socket = openHostSocket({ controlUrl, namespace: "/nodes", credential });
    this.socket.on("connect", () => {
      this.refused = false;
      this.log.info("connected to the control plane");
      this.sendReadiness();
    });
    this.socket.on("disconnect", (reason) => {
      if (reason === "io client disconnect") return;
      this.log.warn({ reason }, "the control plane is gone; the node serves on with what it knows");
      // A server that cut us off does not expect us back by itself.
      if (reason === "io server disconnect") this.knockAgain();
    });
    this.socket.on("connect_error", (error) => {
      if (this.socket.active) return;
      if (!this.refused) this.log.error({ err: error }, "the control plane refuses this node");
      this.refused = true;
      this.knockAgain();
    });
    this.lanes = [
      new ReportLane(this.socket, "stats", parts.stats, log),
      new ReportLane(this.socket, "traces", parts.traces, log),
    ];
    this.socket.on("playground", (payload: unknown, reply?: (said: PlaygroundReply) => void) => {
      void parts.playground.take(payload).then((said) => reply?.(said));
    });
    this.socket.on("playground-cancel", (payload: unknown) => parts.playground.cancel(payload));
    this.receive("snapshot");
    this.receive("access-list");
    this.receive("orders");
    for (const [at, ms] of [STATS_EVERY_MS, TRACES_EVERY_MS].entries())
      this.timers.push(setInterval(() => void this.lanes[at]?.send(), ms));
    this.timers.push(setInterval(() => this.sendReadiness(), READINESS_EVERY_MS));
  }

  sendReadiness(): void {
    if (this.socket.connected) this.socket.emit("readiness", this.parts.readiness());
  }

  async close(): Promise<void> {
    for (const timer of this.timers) clearTimeout(timer);
    await Promise.all(this.lanes.map((lane) => lane.send()));
    this.socket.disconnect();
  }

  private receive(kind: DocumentKind): void {
    this.socket.on(kind, (payload: unknown, reply?: (ack: NodeAck) => void) => {
      const parsed = SignedDocument.safeParse(payload);
      if (!parsed.success) {
        this.log.warn({ kind }, "a pushed document is no signed document");
        reply?.({ ok: false, generation: 0, sha256: "", reason: "not a signed document" });
        return;
      }
      void this.parts.configuration.accept(kind, parsed.data).then((ack) => {
        if (ack.ok) this.parts.onDocument(kind);
        reply?.(ack);
      });
    });
  }

  private knockAgain(): void {
    this.timers.push(setTimeout(() => this.socket.connect(), KNOCK_AGAIN_MS));
  }
}
