import { findUnstorable, NodeReadiness, NodeStats, type ReportAnswer, TraceBatch } from "@helm/contracts";
import type { Socket } from "socket.io";
import type { z } from "zod";
import type { Context, Services } from "../context";
import { authorizeHosts, hostContext } from "../host/socket-auth";
import { replyTo } from "../socket-reply";
import { recordStats } from "../traffic/record-stats";
import { recordTraces } from "../traffic/record-traces";
import { inTransaction } from "../transaction";
import { toHelmError } from "../trpc/errors";
import { AckBook } from "./ack-book";
import { type Desk, DocumentSender, type NodeRow } from "./document-sender";
import { readNewestDocuments } from "./newest-documents";
import { recordReadiness } from "./record-readiness";
import { SharedRead } from "./shared-read";

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

function openDesk({ db }: Services): Desk {
  const documents = new SharedRead(async (keys: "newest"[]) => {
    const newest = await readNewestDocuments(db);
    return new Map(keys.map((key) => [key, newest]));
  });
  const nodes = new SharedRead<string, NodeRow>(async (ids) => {
    const rows = await db.host.findMany({ where: { id: { in: ids } }, include: { parks: { take: 1 } } });
    return new Map(rows.map((row) => [row.id, row]));
  });
  return {
    newest: async () => (await documents.get("newest")) ?? null,
    node: (id) => nodes.get(id),
    acks: new AckBook(),
  };
}

function receive<S extends z.ZodType>(
  services: Services,
  socket: Socket,
  event: string,
  schema: S,
  verb: (ctx: Context, input: z.infer<S>) => Promise<unknown>,
): void {
  // One after another: what a node said last is what stands.
  let turn: Promise<void> = Promise.resolve();
  socket.on(event, (payload: unknown, given: unknown) => {
    const reply = replyTo<ReportAnswer>(given);
    const ctx = hostContext(services, socket);
    const parsed = schema.safeParse(payload);
    if (!parsed.success || findUnstorable(parsed.data) !== null) {
      ctx.log.warn({ event, issues: parsed.error?.issues.slice(0, 5) }, "a node sent what fits no schema");
      reply({ ok: false, refused: true });
      return;
    }
    turn = turn
      .then(() => inTransaction(ctx, step, (inner) => verb(inner, parsed.data)))
      .then(
        () => reply({ ok: true }),
        (thrown: unknown) => {
          const error = toHelmError(thrown);
          ctx.log.warn({ event, err: error.cause ?? error }, error.message);
          reply({ ok: false });
        },
      );
  });
}
