import type { EventAck } from "@helm/contracts";
import type { Services } from "../context";
import { authorizeHosts, hostContext } from "../host/socket-auth";
import { replyTo } from "../socket-reply";
import { inTransaction } from "../transaction";
import { toHelmError } from "../trpc/errors";
import { appendEvents } from "./append-events";
import { AttemptEvents } from "./attempt-requests";

/** /workers: events come in with an ack; hints go out. */
export function openWorkerSockets(services: Services): void {
  const namespace = services.hub.io.of("/workers");
  authorizeHosts(namespace, services, "worker");
  namespace.on("connection", (socket) => {
    // One batch of a worker after another: the order on the wire is the order of the rows.
    let turn: Promise<void> = Promise.resolve();
    socket.on("calibration:event", (payload: unknown, given: unknown) => {
      const reply = replyTo<EventAck>(given);
      turn = turn.then(async () => {
        const ctx = hostContext(services, socket);
        const ack = await takeBatch(ctx, payload);
        reply(ack);
      });
    });
  });
}

async function takeBatch(ctx: ReturnType<typeof hostContext>, payload: unknown): Promise<EventAck> {
  const batch = AttemptEvents.safeParse(payload);
  if (!batch.success) {
    ctx.log.warn({ issues: batch.error.issues.slice(0, 5) }, "a worker sent events that fit no schema");
    return { ok: false, last_seq: 0, code: "BAD_REQUEST" };
  }
  try {
    return await inTransaction(ctx, { audited: false, publish: false }, (inner) =>
      appendEvents({ ctx: inner, input: batch.data }),
    );
  } catch (thrown) {
    const error = toHelmError(thrown);
    if (error.code === "INTERNAL") ctx.log.error({ err: error.cause ?? error }, error.message);
    return { ok: false, last_seq: 0, code: error.code };
  }
}
