import { FollowRequest } from "@helm/contracts";
import type { Socket } from "socket.io";
import { mayUse, SCOPES } from "../access/scopes";
import type { Auth } from "../auth/auth";
import { readSession } from "../auth/session";
import type { Services } from "../context";
import { toHeaders } from "../http/caller";
import { calibrationRoom, personRoom, sessionRoom } from "../hub";
import { replyTo } from "../socket-reply";
import { toHelmError } from "../trpc/errors";

const RECHECK_MS = 30_000;

type FollowAck = { ok: true; last_seq: number; attempt: number } | { ok: false; code: string };

/** /console: who has a session may follow; each room join asks again, and an ended session is cut. */
export function openConsoleSockets(services: Services, auth: Auth): void {
  const namespace = services.hub.io.of("/console");
  namespace.use((socket, next) => {
    sessionOf(services, auth, socket).then(
      (session) => {
        if (!session) return next(new Error("UNAUTHENTICATED"));
        socket.data.sessionId = session.actor.sessionId;
        socket.data.personId = session.actor.id;
        next();
      },
      () => socket.conn.close(),
    );
  });
  services.hub.rechecks.push(() => {
    for (const socket of namespace.sockets.values()) void cutIfEnded(services, auth, socket);
  });
  namespace.on("connection", (socket) => {
    const { sessionId, personId } = socket.data as { sessionId: string; personId: string };
    void socket.join([sessionRoom(sessionId), personRoom(personId)]);
    // What was cut between the question at the door and the room is cut now.
    void cutIfEnded(services, auth, socket);
    const timer = setInterval(() => void cutIfEnded(services, auth, socket), RECHECK_MS);
    socket.on("disconnect", () => clearInterval(timer));
    socket.on("follow", (payload: unknown, given: unknown) => {
      const reply = replyTo<FollowAck>(given);
      follow(services, auth, socket, payload).then(reply, (error: unknown) =>
        reply({ ok: false, code: toHelmError(error).code }),
      );
    });
    socket.on("unfollow", (payload: unknown) => {
      const request = FollowRequest.safeParse(payload);
      if (request.success) void socket.leave(calibrationRoom(request.data.calibration));
    });
  });
}

async function follow(services: Services, auth: Auth, socket: Socket, payload: unknown): Promise<FollowAck> {
  const request = FollowRequest.safeParse(payload);
  if (!request.success) return { ok: false, code: "BAD_REQUEST" };
  const session = await sessionOf(services, auth, socket);
  if (!session) {
    socket.disconnect(true);
    return { ok: false, code: "UNAUTHENTICATED" };
  }
  if (!mayUse(session.actor, SCOPES["calibration.get"] ?? "admin")) return { ok: false, code: "FORBIDDEN" };
  const id = request.data.calibration;
  if (!/^[0-9a-f-]{36}$/i.test(id)) return { ok: false, code: "NOT_FOUND" };
  // Joined before the row is read: what comes in between is seen twice, never missed.
  await socket.join(calibrationRoom(id));
  const row = await services.db.calibration.findUnique({
    where: { id },
    select: { lastSeq: true, attempt: true },
  });
  if (row) return { ok: true, last_seq: row.lastSeq, attempt: row.attempt };
  await socket.leave(calibrationRoom(id));
  return { ok: false, code: "NOT_FOUND" };
}

/** The cookie of the handshake, or a bearer token that a command line sends in `auth`. */
function sessionOf(services: Services, auth: Auth, socket: Socket) {
  const headers = toHeaders(socket.request);
  const { token } = socket.handshake.auth as { token?: unknown };
  if (typeof token === "string") headers.set("authorization", `Bearer ${token}`);
  return readSession(auth, headers, services);
}

async function cutIfEnded(services: Services, auth: Auth, socket: Socket): Promise<void> {
  const session = await sessionOf(services, auth, socket).catch(() => undefined);
  if (session === null) socket.disconnect(true);
}
