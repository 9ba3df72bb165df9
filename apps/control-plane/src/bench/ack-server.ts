// The least that Socket.IO does: one document to every socket, and an ack from each. Beside it the control plane is measured.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Server } from "socket.io";

const http = createServer();
const io = new Server(http, { addTrailingSlash: false, serveClient: false });

process.on("message", async (document: object) => {
  const from = performance.now();
  const sockets = [...io.of("/echo").sockets.values()];
  const delays = await Promise.all(
    sockets.map(async (socket) => {
      await socket.timeout(30_000).emitWithAck("snapshot", document);
      return performance.now() - from;
    }),
  );
  process.send?.(delays);
});
io.of("/echo");
http.listen(0, "127.0.0.1", () => process.send?.((http.address() as AddressInfo).port));
