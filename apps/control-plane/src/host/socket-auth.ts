import { randomUUID } from "node:crypto";
import type { Namespace, Socket } from "socket.io";
import type { Actor } from "../access/actor";
import type { Context, Services } from "../context";
import { databaseNow } from "../database-clock";
import { hostRoom } from "../hub";
import { outsideTransaction } from "../transaction";
import { isOurTrouble, toHelmError } from "../trpc/errors";
import { authenticateHost } from "./authenticate";

type HostActor = Extract<Actor, { kind: "host" }>;

const SEEN_EVERY_MS = 10_000;

type Presence = { connectedAt?: Date; disconnectedAt?: Date; lastSeenAt?: Date };

/** Opens a namespace to hosts of one kind by their credential; each joins the room of its own id and no other. */
export function authorizeHosts(namespace: Namespace, services: Services, kind: "worker" | "node"): void {
  namespace.use((socket, next) => {
    const { credential } = socket.handshake.auth as { credential?: unknown };
    authenticateHost(services.db, typeof credential === "string" ? credential : "", kind).then(
      (actor) => {
        socket.data.actor = actor;
        next();
      },
      (thrown: unknown) => {
        const error = toHelmError(thrown);
        // Our own trouble is no refusal: a cut transport makes the client try again, a refusal would not.
        if (isOurTrouble(error.code)) socket.conn.close();
        else next(new Error(error.userMessage));
      },
    );
  });
  namespace.on("connection", (socket) => {
    const actor = socket.data.actor as HostActor;
    void socket.join(hostRoom(actor.id));
    /** Where it is not revoked, and for a good-bye, where no newer connection has come, perhaps elsewhere. */
    const note = (data: Presence, where: { connectedAt?: Date } = {}) =>
      services.db.host
        .updateMany({ where: { id: actor.id, revokedAt: null, ...where }, data })
        .catch((error: unknown) => {
          services.log.warn({ err: error, host: actor.id }, "a host's presence could not be noted");
          return null;
        });
    const seen = async (data: (now: Date) => Presence): Promise<void> => {
      // A cut that this control plane has missed, or one between the question at the door and the room.
      const now = await databaseNow(services.db).catch(() => null);
      if (now && (await note(data(now)))?.count === 0) socket.disconnect(true);
    };
    const seenNow = () => seen((now) => ({ lastSeenAt: now }));
    socket.data.recheck = () => void seenNow();
    let connectedAt: Date | null = null;
    const arrived = seen((now) => {
      connectedAt = now;
      return { connectedAt: now, lastSeenAt: now };
    });
    void arrived.then(() => services.hub.hint(`${kind}s`));
    const timer = setInterval(() => void seenNow(), SEEN_EVERY_MS);
    const left = async (): Promise<void> => {
      await arrived;
      const now = await databaseNow(services.db).catch(() => null);
      if (now && connectedAt) await note({ disconnectedAt: now }, { connectedAt });
      services.hub.hint(`${kind}s`);
    };
    socket.on("disconnect", () => {
      clearInterval(timer);
      void left();
    });
  });
  services.hub.rechecks.push(() => {
    for (const socket of namespace.sockets.values()) (socket.data.recheck as (() => void) | undefined)?.();
  });
}

export function hostContext(services: Services, socket: Socket): Context {
  const actor = socket.data.actor as HostActor;
  const requestId = randomUUID();
  const log = services.log.child({ requestId, [actor.hostKind]: actor.id });
  return outsideTransaction({ services, actor, requestId, address: socket.handshake.address, log });
}
