// The least that an HTTP gateway in Node does: bytes in, bytes out, nothing read. Beside it the gateway is measured.
import { createServer, request } from "node:http";

const [, , socketPath] = process.argv;
const server = createServer((incoming, outgoing) => {
  const { method, url: path, headers } = incoming;
  const onward = request({ socketPath, method, path, headers, agent: undefined }, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers);
    answer.pipe(outgoing);
  });
  onward.once("error", () => outgoing.destroy());
  incoming.pipe(onward);
});
server.listen(0, "127.0.0.1", () => process.send?.(server.address().port));
process.once("disconnect", () => process.exit(0));
