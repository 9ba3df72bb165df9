import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Door } from "./ask.mjs";

/** Starts one of the measurement's own small servers; gives its port and how to end it. */
export async function startHelper(file, args) {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args);
  const port = await new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", (code) => reject(new Error(`${file} ended with ${code}`)));
  });
  child.removeAllListeners("exit");
  return { origin: `http://127.0.0.1:${port}`, pid: child.pid, stop: () => child.disconnect() };
}

/** The engine itself, the gateway, the least that a proxy in Node does, and the engine behind a bare TCP pipe. */
export async function openDoors(node) {
  const proxy = await startHelper("./bare-proxy.mjs", [node.socketPath]);
  const pipe = await startHelper("./tcp-pipe.mjs", [node.socketPath]);
  const doors = {
    engine: new Door({ socketPath: node.socketPath }),
    gateway: new Door({ origin: node.url, key: node.key }),
    proxy: new Door({ origin: proxy.origin }),
    pipe: new Door({ origin: pipe.origin }),
  };
  return {
    doors,
    pipe: pipe.origin,
    pids: { gateway: node.child.pid, proxy: proxy.pid },
    async close() {
      for (const door of Object.values(doors)) await door.close();
      proxy.stop();
      pipe.stop();
    },
  };
}
