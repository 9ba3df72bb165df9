import { createServer } from "node:net";
import { Sorry } from "./sorry.mjs";

export const DEFAULT_PORTS = { console: 3000, controlPlane: 4400, gateway: 8000 };
const VARIABLES = { console: "HELM_CONSOLE_PORT", controlPlane: "HELM_PORT", gateway: "HELM_GATEWAY_PORT" };
const PATIENCE_MS = 6_000;

/** The ports to use: the default ones (or what the environment names), or any that are free. */
export async function choosePorts(kind, needed) {
  const chosen = {};
  for (const name of needed) chosen[name] = kind === "free" ? await freePort() : await wantedPort(name);
  return chosen;
}

async function wantedPort(name) {
  const port = Number(process.env[VARIABLES[name]] ?? DEFAULT_PORTS[name]);
  // Programs of a launcher that was killed a moment ago are still on their way out.
  const until = Date.now() + PATIENCE_MS;
  while (!(await isFree(port))) {
    if (Date.now() > until) {
      throw new Sorry(
        `Port ${port} is taken by another program. End it, or choose another port: ${VARIABLES[name]}=${port + 1} npm start`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return port;
}

function listen(port) {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ port, host: "127.0.0.1" }, () => {
      const address = server.address();
      server.close(() => resolve(address.port));
    });
  });
}

const isFree = (port) =>
  listen(port).then(
    () => true,
    () => false,
  );
const given = new Set();

// The system may hand out the same port twice before it is used.
export async function freePort() {
  for (;;) {
    const port = await listen(0);
    if (!given.has(port)) {
      given.add(port);
      return port;
    }
  }
}
