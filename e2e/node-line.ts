import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

/** What a node's mappers come from, below the control plane's address. */
const MAPPERS = "/api/node/artifacts/";

/** The way between one node and its control plane: it can be cut, or mappers alone held back on it. */
export class NodeLine {
  private readonly sockets = new Set<Socket>();
  private isCut = false;
  mappersHeld = false;

  private constructor(
    private readonly server: Server,
    private readonly far: URL,
  ) {
    server.on("connection", (socket: Socket) => {
      if (this.isCut) socket.destroy();
      else this.keep(socket);
    });
    server.on("request", (incoming, outgoing) => this.pass(incoming, outgoing));
    server.on("upgrade", (incoming: IncomingMessage, near: Socket, head: Buffer) => {
      const onward = this.keep(connect(Number(this.far.port), this.far.hostname));
      const lines = [`${incoming.method} ${incoming.url} HTTP/1.1`];
      for (let i = 0; i < incoming.rawHeaders.length; i += 2)
        lines.push(`${incoming.rawHeaders[i]}: ${incoming.rawHeaders[i + 1]}`);
      onward.write(`${lines.join("\r\n")}\r\n\r\n`);
      onward.write(head);
      onward.pipe(near);
      near.pipe(onward);
    });
  }

  static async open(controlPlane: string): Promise<NodeLine> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new NodeLine(server, new URL(controlPlane));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.destroy();
  }

  mend(): void {
    this.isCut = false;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private keep(socket: Socket): Socket {
    this.sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => this.sockets.delete(socket));
    return socket;
  }

  private pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    if (this.mappersHeld && incoming.url?.startsWith(MAPPERS)) {
      outgoing.writeHead(503, { "retry-after": "1" }).end();
      return;
    }
    const { method, url: path, headers } = incoming;
    const { hostname, port } = this.far;
    const onward = request({ hostname, port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.once("error", () => outgoing.destroy());
    incoming.pipe(onward);
  }
}
