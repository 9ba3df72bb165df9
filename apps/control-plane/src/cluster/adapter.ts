import { PostgresAdapter } from "@socket.io/postgres-adapter";
import type { Namespace } from "socket.io";
import type { Bus } from "./bus";

type Peer = { onMessage(message: unknown): void };
type Client = ConstructorParameters<typeof PostgresAdapter>[2];

/**
 * Socket.IO's Postgres adapter over our own bus. Its own client ends the process when an idle connection breaks, fills its
 * pool with dead connections after two restarts of the database, lets short messages overtake long ones, and makes
 * local sockets wait for the database (docs/decisions/0060-two-control-planes.md).
 */
export function clusterAdapter(bus: Bus): (namespace: Namespace) => PostgresAdapter {
  const peers = new Map<string, Peer>();
  bus.onMessage = (body) => peers.get((body as { nsp?: string }).nsp ?? "")?.onMessage(body);
  const client = {
    publish: (message: unknown) => {
      bus.publish(message);
      return Promise.resolve();
    },
  } as unknown as Client;
  // Socket.IO calls it with `new`, so it is no arrow function.
  return function adapterOf(namespace: Namespace) {
    const adapter = new PostgresAdapter(namespace, {}, client);
    peers.set(namespace.name, adapter as unknown as Peer);
    return adapter;
  };
}
