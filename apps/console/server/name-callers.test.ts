import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { CONSOLE_SECRET_HEADER } from "@helm/contracts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { nameCallers } from "./name-callers";

const SECRET = "the-secret-that-console-and-control-plane-share";
const FORGED = { "x-forwarded-for": "203.0.113.9", [CONSOLE_SECRET_HEADER]: "guessed" };
let server: Server;
const seen: IncomingHttpHeaders[] = [];

beforeAll(async () => {
  nameCallers(SECRET);
  server = createServer((req, res) => {
    seen.push(req.headers);
    res.end();
  });
  server.on("upgrade", (req, socket) => {
    seen.push(req.headers);
    socket.end("HTTP/1.1 404 Not Found\r\n\r\n");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
});
afterAll(() => new Promise((closed) => server.close(closed)));

const port = () => (server.address() as AddressInfo).port;
const named = () =>
  seen.splice(0).map((headers) => [headers["x-forwarded-for"], headers[CONSOLE_SECRET_HEADER]]);

it("a request says at the chain's end where it came from, whatever its caller wrote", async () => {
  await fetch(`http://127.0.0.1:${port()}/`);
  await fetch(`http://127.0.0.1:${port()}/`, { headers: FORGED });
  expect(named()).toEqual([
    ["127.0.0.1", SECRET],
    ["203.0.113.9, 127.0.0.1", SECRET],
  ]);
});

it("a socket's handshake does, too", async () => {
  const socket = connect(port(), "127.0.0.1");
  const lines = Object.entries({ host: "helm", connection: "upgrade", upgrade: "websocket", ...FORGED });
  socket.write(
    `GET /socket.io/ HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`,
  );
  await new Promise((ended) => socket.resume().once("close", ended));
  expect(named()).toEqual([["203.0.113.9, 127.0.0.1", SECRET]]);
});
