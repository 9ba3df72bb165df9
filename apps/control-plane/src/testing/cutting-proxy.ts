import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";

const SILENCE_MS = 400;

/** A line to a server that is cut once after so many bytes towards it; counts what went that way. */
export async function cuttingProxy(target: string) {
  const { hostname, port } = new URL(target);
  const state = { up: 0, cutAt: Number.POSITIVE_INFINITY, cuts: 0 };
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => open.delete(socket));
    }
    client.on("data", (chunk: Buffer) => {
      const left = state.cutAt - state.up;
      state.up += Math.min(chunk.length, left);
      if (chunk.length < left) {
        if (!upstream.write(chunk)) {
          client.pause();
          upstream.once("drain", () => client.resume());
        }
        return;
      }
      state.cuts += 1;
      state.cutAt = Number.POSITIVE_INFINITY;
      client.pause();
      // A line that breaks is silent first: what it carried has been read by then, on a busy machine too.
      const cut = () => {
        upstream.destroy();
        client.destroy();
      };
      upstream.write(chunk.subarray(0, left), () => setTimeout(cut, SILENCE_MS));
    });
    upstream.pipe(client);
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state,
    stop: () => {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}
