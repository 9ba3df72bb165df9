// The least that Socket.IO does: a room, and what comes in goes out to it. Beside it the control plane is measured.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Server } from "socket.io";

const http = createServer();
const io = new Server(http, { addTrailingSlash: false, serveClient: false });
io.of("/echo").on("connection", (socket) => {
  socket.on("follow", async ({ calibration }: { calibration: string }, reply: (ack: object) => void) => {
    await socket.join(calibration);
    reply({ ok: true });
  });
  socket.on("say", (room: string, update: object, reply: () => void) => {
    io.of("/echo").to(room).emit("calibration:update", update);
    reply();
  });
});
http.listen(0, "127.0.0.1", () => process.send?.((http.address() as AddressInfo).port));
