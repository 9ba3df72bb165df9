import { findUnstorable, NodeAck, NodeReadiness, NodeStats, type SignedDocument } from "@helm/contracts";
import type { Socket } from "socket.io";
import type { z } from "zod";
import type { Context, Services } from "../context";
import { authorizeHosts, hostContext } from "../host/socket-auth";
import { replyTo } from "../socket-reply";
import { recordStats } from "../traffic/record-stats";
import { inTransaction } from "../transaction";
import { toHelmError } from "../trpc/errors";
import { type NewestDocuments, readNewestDocuments } from "./newest-documents";
import { recordAck } from "./record-ack";
import { recordReadiness } from "./record-readiness";

const ACK_MS = 15_000;
const AGAIN_MS = 5_000;
const step = { audited: false, publish: false };

/** /nodes: both documents go out at connect and on every change; readiness and counters come in. */
export function openNodeSockets(services: Services): void {
  const namespace = services.hub.io.of("/nodes");
  authorizeHosts(namespace, services, "node");
  namespace.on("connection", (socket) => {
    const sender = new DocumentSender(services, socket);
    socket.data.sender = sender;
    sender.push();
    receive(services, socket, "readiness", NodeReadiness, (ctx, input) => recordReadiness({ ctx, input }));
    receive(services, socket, "stats", NodeStats, (ctx, input) => recordStats({ ctx, input }));
  });
  services.hub.pushDocumentsHere = () => {
    for (const socket of namespace.sockets.values())
      (socket.data.sender as DocumentSender | undefined)?.push();
  };
}

/** Sends what is newest, one push at a time; a change during a push leads to one more. */
class DocumentSender {
  private sent = { snapshot: "", accessList: "" };
  private busy = false;
  private again = false;

  constructor(
    private readonly services: Services,
    private readonly socket: Socket,
  ) {}

  push(): void {
    this.again = true;
    if (!this.busy) void this.run();
  }

  private async run(): Promise<void> {
    this.busy = true;
    try {
      while (this.again && this.socket.connected) {
        this.again = false;
        const newest = await readNewestDocuments(this.services.db);
        if (newest && !(await this.send(newest))) setTimeout(() => this.push(), AGAIN_MS).unref();
      }
    } catch (error) {
      this.services.log.warn(
        { err: error },
        "documents could not be pushed; the next change or connection tries again",
      );
    } finally {
      this.busy = false;
    }
  }

  /** The access list first: it holds the kill switch. False where one got no ack and has to go out again. */
  private async send({ accessList, snapshot }: NewestDocuments): Promise<boolean> {
    if (this.sent.accessList !== accessList.sha256) {
      if (!(await this.deliver("access-list", "access_list", accessList))) return false;
      this.sent.accessList = accessList.sha256;
    }
    if (this.sent.snapshot !== snapshot.sha256) {
      if (!(await this.deliver("snapshot", "routing_snapshot", snapshot))) return false;
      this.sent.snapshot = snapshot.sha256;
    }
    return true;
  }

  private async deliver(
    event: string,
    kind: "access_list" | "routing_snapshot",
    document: SignedDocument,
  ): Promise<boolean> {
    const ctx = hostContext(this.services, this.socket);
    const answer: unknown = await this.socket
      .timeout(ACK_MS)
      .emitWithAck(event, document)
      .catch(() => null);
    const ack = NodeAck.safeParse(answer);
    if (!ack.success) {
      ctx.log.warn({ event }, "a node gave no ack that can be read");
      return false;
    }
    if (!ack.data.ok) ctx.log.warn({ event, reason: ack.data.reason }, "a node refused a document");
    await inTransaction(ctx, step, (inner) => recordAck({ ctx: inner, input: { kind, ack: ack.data } }));
    return true;
  }
}

function receive<S extends z.ZodType>(
  services: Services,
  socket: Socket,
  event: string,
  schema: S,
  verb: (ctx: Context, input: z.infer<S>) => Promise<unknown>,
): void {
  socket.on(event, (payload: unknown, given: unknown) => {
    const reply = replyTo<{ ok: boolean }>(given);
    const ctx = hostContext(services, socket);
    const parsed = schema.safeParse(payload);
    if (!parsed.success || findUnstorable(parsed.data) !== null) {
      ctx.log.warn({ event, issues: parsed.error?.issues.slice(0, 5) }, "a node sent what fits no schema");
      reply({ ok: false });
      return;
    }
    inTransaction(ctx, step, (inner) => verb(inner, parsed.data)).then(
      () => reply({ ok: true }),
      (thrown: unknown) => {
        const error = toHelmError(thrown);
        ctx.log.warn({ event, err: error.cause ?? error }, error.message);
        reply({ ok: false });
      },
    );
  });
}
