import { ROLE } from "./cluster";
import { ensureDatabase } from "./database";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./index";
import { isAlive } from "./postmaster";

// A process of its own between launcher and server: PostgreSQL does not notice that who started it is gone.
// Usage: supervisor STATE_DIR DATABASE [PORT]. Prints one JSON line when ready; ends on SIGTERM or with its parent.
const [stateDir, database, port] = process.argv.slice(2);
if (!stateDir || !database) throw new Error("usage: supervisor STATE_DIR DATABASE [PORT]");

const parent = Number(process.env.HELM_PARENT_PID) || null;
let server: EmbeddedPostgres | undefined;
let ending = false;

async function end(): Promise<void> {
  if (ending) return;
  ending = true;
  // While it still starts, the line after the start ends it.
  if (!server) return;
  await server.stop();
  process.exit(0);
}

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, end);
setInterval(() => {
  if (parent !== null && !isAlive(parent)) void end();
  if (!ending && server && !isAlive(server.pid)) {
    console.error("the PostgreSQL server ended by itself; see server.log");
    process.exit(1);
  }
}, 500);

server = await startEmbeddedPostgres({ stateDir, port: port ? Number(port) : "free" });
if (ending) {
  await server.stop();
  process.exit(0);
}
await ensureDatabase(server.url, database);
// Without the password: this line ends in a log file. Who needs it reads STATE_DIR/password.
console.log(
  JSON.stringify({ port: server.port, role: ROLE, database, pid: server.pid, adopted: server.adopted }),
);
