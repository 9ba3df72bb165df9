import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type Socket } from "node:net";

/** A way to a database that a test cuts, freezes and mends; what it carries is the real thing. */
export class CuttableDatabase {
  private server: Server | null = null;
  private readonly pairs = new Set<[Socket, Socket]>();
  private port = 0;
  private frozen = false;
  private target = new URL("postgresql://localhost");

  async through(databaseUrl: string): Promise<string> {
    this.target = new URL(databaseUrl);
    await this.mend();
    const url = new URL(databaseUrl);
    url.hostname = "127.0.0.1";
    url.port = String(this.port);
    return url.href;
  }

  /** Connections break and new ones are refused, as where the server was killed. */
  async cut(): Promise<void> {
    for (const pair of this.pairs) for (const socket of pair) socket.destroy();
    this.pairs.clear();
    const { server } = this;
    this.server = null;
    await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
  }

  /** Nothing comes through any more and nobody hangs up, as where the server stands still. */
  freeze(): void {
    this.frozen = true;
    for (const pair of this.pairs) for (const socket of pair) socket.pause();
  }

  async mend(): Promise<void> {
    this.frozen = false;
    for (const pair of this.pairs) for (const socket of pair) socket.resume();
    if (this.server) return;
    const server = createServer((near) => this.join(near));
    await new Promise<void>((resolve) => server.listen(this.port, "127.0.0.1", resolve));
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }

  private join(near: Socket): void {
    const far = connect(Number(this.target.port), this.target.hostname);
    const pair: [Socket, Socket] = [near, far];
    this.pairs.add(pair);
    const end = () => {
      this.pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    for (const [from, to] of [pair, [far, near] as const]) {
      from.on("data", (chunk) => to.write(chunk));
      from.on("error", end);
      from.on("close", end);
      if (this.frozen) from.pause();
    }
  }
}
