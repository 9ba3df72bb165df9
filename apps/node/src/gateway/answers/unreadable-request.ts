import type { Socket } from "node:net";
import { GatewayError } from "../errors/gateway-error";

/** What came in is no HTTP, or its head never came whole: answered as every other error, and the connection is closed. */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, words, body } = describe(error.code);
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${words}`,
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(text)}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
}

function describe(code: string | undefined): { status: number; words: string; body: unknown } {
  const answer = (status: number, words: string, error: string, message: string) => ({
    status,
    words,
    body: new GatewayError(status, error, message).body(),
  });
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return answer(408, "Request Timeout", "request_timeout", "The request did not arrive in time.");
    case "HPE_HEADER_OVERFLOW":
      return answer(
        431,
        "Request Header Fields Too Large",
        "headers_too_large",
        "The request's head is too large.",
      );
    default:
      return answer(400, "Bad Request", "invalid_http", "This is no HTTP request.");
  }
}
