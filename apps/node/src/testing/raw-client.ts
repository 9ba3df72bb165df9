import { connect, type Socket } from "node:net";
import { testKey } from "./test-gateway";

/** A client that says on the wire exactly what a test wants, in time or not. */
export class RawClient {
  /** What came back so far. */
  answer = "";
  readonly closed: Promise<void>;

  private constructor(readonly socket: Socket) {
    socket.setEncoding("latin1").on("data", (text: string) => {
      this.answer += text;
    });
    socket.on("error", () => {});
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
  }

  static async open(origin: string): Promise<RawClient> {
    const { hostname, port } = new URL(origin);
    const socket = connect({ host: hostname, port: Number(port) });
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new RawClient(socket);
  }

  /** The head of a request whose body is said to be so long. */
  head(bodyBytes: number, path = "/v1/chat/completions"): void {
    const lines = [
      `POST ${path} HTTP/1.1`,
      "host: gateway",
      `authorization: Bearer ${testKey}`,
      "content-type: application/json",
      `content-length: ${bodyBytes}`,
    ];
    this.socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  }

  /** Sends at the pace at which the other side reads; false once it is closed. */
  async send(bytes: Buffer | string): Promise<boolean> {
    if (this.socket.destroyed) return false;
    if (this.socket.write(bytes)) return true;
    await Promise.race([new Promise((resolve) => this.socket.once("drain", resolve)), this.closed]);
    return !this.socket.destroyed;
  }

  get status(): number {
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(this.answer)?.[1] ?? 0);
  }

  /** The code of the typed error that came back. */
  get code(): string | undefined {
    const body = this.answer.slice(this.answer.indexOf("\r\n\r\n") + 4);
    return (JSON.parse(body) as { error: { code: string } }).error.code;
  }

  leave(): void {
    this.socket.destroy();
  }
}
