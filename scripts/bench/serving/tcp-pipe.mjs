// The engine's Unix socket as a TCP port, byte for byte: for a proxy that can reach nothing else.
import { connect, createServer } from "node:net";

const [, , socketPath] = process.argv;
const server = createServer({ noDelay: true }, (near) => {
  const far = connect(socketPath);
  for (const [one, other] of [
    [near, far],
    [far, near],
  ]) {
    one.pipe(other);
    one.once("error", () => other.destroy());
    one.once("close", () => other.destroy());
  }
});
server.listen(0, "127.0.0.1", () => process.send?.(server.address().port));
process.once("disconnect", () => process.exit(0));
