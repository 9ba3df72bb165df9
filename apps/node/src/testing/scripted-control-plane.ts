import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { NodeOrders, NodeReadiness, SignedDocument } from "@helm/contracts";
import { Server, type Socket } from "socket.io";
import { makeSigner } from "./signing";

/** TEST DOUBLE. A control plane's side of one node's socket: documents go out when the test says so, readiness is kept. */
export class ScriptedControlPlane {
  readonly signer = makeSigner();
  /** The node's last report. */
  readiness: NodeReadiness | null = null;
  private readonly http = createServer();
  private readonly io = new Server(this.http);
  private node: Socket | null = null;
  private revision = 0;

  async start(): Promise<string> {
    this.io.of("/nodes").on("connection", (socket) => {
      this.node = socket;
      socket.on("readiness", (report) => {
        this.readiness = report;
      });
      for (const event of ["stats", "traces"])
        socket.on(event, (_: unknown, reply?: (said: unknown) => void) => reply?.({ ok: true }));
    });
    await new Promise<void>((resolve) => this.http.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  get connected(): boolean {
    return this.node !== null;
  }

  async send(event: "snapshot" | "access-list" | "orders", document: SignedDocument): Promise<void> {
    const ack = await this.node?.emitWithAck(event, document);
    if (!ack?.ok) throw new Error(`the node refused ${event}: ${JSON.stringify(ack)}`);
  }

  order(nodeId: string, orders: Pick<NodeOrders, "drain" | "park">): Promise<void> {
    this.revision += 1;
    const document = {
      kind: "node_orders",
      schema: 1,
      node_id: nodeId,
      revision: this.revision,
      canary: 0,
      ...orders,
    };
    return this.send("orders", this.signer.sign(document));
  }

  async stop(): Promise<void> {
    await this.io.close();
  }
}
