import { io, type Socket } from "socket.io-client";
import { ORIGIN } from "./names";

export interface Door {
  /** A person's bearer token, a host's credential, a browser's cookie. */
  token?: string;
  credential?: string;
  cookie?: string;
  /** Null: none is sent, as a command line or a worker does. */
  origin?: string | null;
  /** Comes back by itself; off unless a test is about that. */
  reconnection?: boolean;
}

/** A socket of our kind to one namespace; it is not connected yet. */
export function socketTo(url: string, namespace: string, door: Door = {}): Socket {
  const origin = door.origin === undefined ? (door.cookie ? ORIGIN : null) : door.origin;
  return io(`${url}${namespace === "/" ? "" : namespace}`, {
    transports: ["websocket"],
    addTrailingSlash: false,
    forceNew: true,
    autoConnect: false,
    reconnection: door.reconnection ?? false,
    reconnectionDelay: 100,
    reconnectionDelayMax: 500,
    auth: {
      ...(door.token === undefined ? {} : { token: door.token }),
      ...(door.credential === undefined ? {} : { credential: door.credential }),
    },
    extraHeaders: { ...(origin ? { origin } : {}), ...(door.cookie ? { cookie: door.cookie } : {}) },
  });
}

/** Connected, or what the server said. */
export async function connect(socket: Socket): Promise<"connected" | string> {
  const outcome = new Promise<string>((resolve) => {
    socket.once("connect", () => resolve("connected"));
    socket.once("connect_error", (error) => resolve(error.message));
  });
  socket.connect();
  return outcome;
}

/** The ack, or "silence" where none came in time. */
export async function ask(socket: Socket, event: string, payload: unknown, ms = 5_000): Promise<unknown> {
  return socket
    .timeout(ms)
    .emitWithAck(event, payload)
    .catch(() => "silence");
}
