import { io, type Socket } from "socket.io-client";

/** A socket to the control plane's namespace, authorised by the host's credential, that reconnects for ever. */
export function openHostSocket(options: {
  controlUrl: string;
  namespace: "/workers" | "/nodes";
  credential: string;
}): Socket {
  return io(new URL(options.namespace, options.controlUrl).href, {
    auth: { credential: options.credential },
    transports: ["websocket"],
    reconnectionDelay: 300,
    reconnectionDelayMax: 3000,
  });
}
