import {
  findUnstorable,
  NodeAck,
  NodeReadiness,
  NodeStats,
  type ReportAnswer,
  type SignedDocument,
  TraceBatch,
} from "@helm/contracts";
import type { Socket } from "socket.io";
import type { z } from "zod";
import type { Context, Services } from "../context";
import { signOrders } from "../host/orders";
import { authorizeHosts, hostContext } from "../host/socket-auth";
import { replyTo } from "../socket-reply";
import { recordStats } from "../traffic/record-stats";
import { recordTraces } from "../traffic/record-traces";
import { inTransaction } from "../transaction";
import { toHelmError } from "../trpc/errors";
import { AckBook } from "./ack-book";
import { type NewestDocuments, readNewestDocuments } from "./newest-documents";
import type { AckInput } from "./record-ack";
import { recordReadiness } from "./record-readiness";
import { SharedRead } from "./shared-read";

const ACK_MS = 15_000;
const AGAIN_MS = 5_000;
const step = { audited: false, publish: false };

/** /nodes: documents and the node's own orders go out at connect and on every change; readiness and counters come in. */
export function openNodeSockets(services: Services): void {
  const namespace = services.hub.io.of("/nodes");
  authorizeHosts(namespace, services, "node");
  const desk = openDesk(services);
  namespace.on("connection", (socket) => {
    const sender = new DocumentSender(services, socket, desk);
    socket.data.sender = sender;
    sender.push();
    receive(services, socket, "readiness", NodeReadiness, (ctx, input) => recordReadiness({ ctx, input }));
    receive(services, socket, "stats", NodeStats, (ctx, input) => recordStats({ ctx, input }));
    receive(services, socket, "traces", TraceBatch, (ctx, input) => recordTraces({ ctx, input }));
  });
  services.hub.pushDocumentsHere = () => {
    for (const socket of namespace.sockets.values())
      (socket.data.sender as DocumentSender | undefined)?.push();
  };
}

/** What all nodes' sockets have in common: a change reaches a thousand of them with a few reads and transactions. */
interface Desk {
  newest: () => Promise<NewestDocuments | null>;
  node: (id: string) => Promise<NodeRow | undefined>;
  acks: AckBook;
}

type NodeRow = Parameters<typeof signOrders>[1];

function openDesk({ db }: Services): Desk {
  const documents = new SharedRead(async (keys: "newest"[]) => {
    const newest = await readNewestDocuments(db);
    return new Map(keys.map((key) => [key, newest]));
  });
  const nodes = new SharedRead<string, NodeRow>(async (ids) => {
    const rows = await db.host.findMany({ where: { id: { in: ids } } });
    return new Map(rows.map((row) => [row.id, row]));
  });
  return {
    newest: async () => (await documents.get("newest")) ?? null,
    node: (id) => nodes.get(id),
    acks: new AckBook(),
  };
}

/** Does its work again for as long as something changed meanwhile, one at a time. */
class Lane {
  private current: Promise<void> | null = null;
  private again = false;

  constructor(
    private readonly parts: {
      work: () => Promise<boolean>;
      open: () => boolean;
      failed: (error: unknown) => void;
    },
  ) {}

  push(): void {
    this.again = true;
    this.current ??= this.run().finally(() => {
      this.current = null;
      if (this.again && this.parts.open()) this.push();
    });
  }

  /** Resolves once nothing of it is under way. */
  async idle(): Promise<void> {
    await this.current;
  }

  private async run(): Promise<void> {
    try {
      while (this.again && this.parts.open()) {
        this.again = false;
        if (!(await this.parts.work())) setTimeout(() => this.push(), AGAIN_MS).unref();
      }
    } catch (error) {
      this.parts.failed(error);
    }
  }
}

/**
 * Sends what is newest to one node. Access list and orders have lanes of their own: a kill switch, a revoked key or an order
 * to drain never waits for a node that is slow to answer to a snapshot.
 */
class DocumentSender {
  /** Digest of what the node last answered to, by event. */
  private readonly sent = new Map<string, string>();
  private readonly access: Lane;
  private readonly orders: Lane;
  private readonly snapshot: Lane;

  constructor(
    private readonly services: Services,
    private readonly socket: Socket,
    private readonly desk: Desk,
  ) {
    const open = () => this.socket.connected;
    const failed = (error: unknown) =>
      services.log.warn(
        { err: error },
        "documents could not be pushed; the next change or connection tries again",
      );
    this.access = new Lane({ work: () => this.sendAccess(), open, failed });
    this.orders = new Lane({ work: () => this.sendOrders(), open, failed });
    this.snapshot = new Lane({ work: () => this.sendSnapshot(), open, failed });
  }

  push(): void {
    this.access.push();
    this.orders.push();
    this.snapshot.push();
  }

  private async sendAccess(): Promise<boolean> {
    const newest = await this.desk.newest();
    return newest === null || this.deliver("access-list", "access_list", newest.version, newest.accessList);
  }

  /** False where it got no ack and has to go out again. A snapshot never overtakes the access list it was made with. */
  private async sendSnapshot(): Promise<boolean> {
    await this.access.idle();
    const newest = await this.desk.newest();
    return (
      newest === null || this.deliver("snapshot", "routing_snapshot", newest.generation, newest.snapshot)
    );
  }

  private async sendOrders(): Promise<boolean> {
    const { id } = hostContext(this.services, this.socket).actor as { id: string };
    const node = await this.desk.node(id);
    const orders = node && signOrders(this.services.signer, node);
    return orders ? this.deliver("orders", "node_orders", orders.revision, orders.document) : true;
  }

  /** Sends a document unless the node has answered to it already. An ack is believed for the very digest that was sent. */
  private async deliver(
    event: string,
    kind: AckInput["kind"],
    number: number,
    document: SignedDocument,
  ): Promise<boolean> {
    if (this.sent.get(event) === document.sha256) return true;
    const ctx = hostContext(this.services, this.socket);
    const answer: unknown = await this.socket
      .timeout(ACK_MS)
      .emitWithAck(event, document)
      .catch(() => null);
    const ack = NodeAck.safeParse(answer);
    if (!ack.success || (ack.data.ok && ack.data.sha256 !== document.sha256) || findUnstorable(ack.data)) {
      ctx.log.warn({ event }, "a node gave no ack that can be read");
      return false;
    }
    if (!ack.data.ok) ctx.log.warn({ event, reason: ack.data.reason }, "a node refused a document");
    await this.desk.acks.record(ctx, { kind, sent: number, ack: ack.data });
    this.sent.set(event, document.sha256);
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
    const reply = replyTo<ReportAnswer>(given);
    const ctx = hostContext(services, socket);
    const parsed = schema.safeParse(payload);
    if (!parsed.success || findUnstorable(parsed.data) !== null) {
      ctx.log.warn({ event, issues: parsed.error?.issues.slice(0, 5) }, "a node sent what fits no schema");
      reply({ ok: false, refused: true });
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
