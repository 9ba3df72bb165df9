import { findUnstorable, NodeAck, type SignedDocument } from "@helm/contracts";
import type { Socket } from "socket.io";
import type { Services } from "../context";
import { signOrders } from "../host/orders";
import { hostContext } from "../host/socket-auth";
import type { AckBook } from "./ack-book";
import { Lane } from "./lane";
import type { NewestDocuments } from "./newest-documents";
import type { AckInput } from "./record-acks";

const ACK_MS = 15_000;

/** What all nodes' sockets have in common: a change reaches a thousand of them with a few reads and transactions. */
export interface Desk {
  newest: () => Promise<NewestDocuments | null>;
  node: (id: string) => Promise<NodeRow | undefined>;
  acks: Pick<AckBook, "record">;
}

export type NodeRow = Parameters<typeof signOrders>[1];

/**
 * Sends what is newest to one node. Access list and orders have lanes of their own: a kill switch, a revoked key or an order
 * to drain never waits for a node that is slow to answer to a snapshot.
 */
export class DocumentSender {
  /** Digest of what the node last answered to, by event. */
  private readonly sent = new Map<string, string>();
  /** Of the newest access list that went out, answered to or not. */
  private accessVersion = 0;
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
    if (newest === null) return true;
    this.accessVersion = newest.version;
    return this.deliver("access-list", "access_list", newest.version, newest.accessList);
  }

  /** False where it got no ack and has to go out again. A snapshot never overtakes the access list it was made with. */
  private async sendSnapshot(): Promise<boolean> {
    await this.access.idle();
    const newest = await this.desk.newest();
    if (newest === null) return true;
    // Both may have changed since that list was read.
    if (newest.version > this.accessVersion) {
      this.access.push();
      await this.access.idle();
    }
    return this.deliver("snapshot", "routing_snapshot", newest.generation, newest.snapshot);
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
