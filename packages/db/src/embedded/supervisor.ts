import { ROLE } from "./cluster";
import { ensureDatabase } from "./database";
import { startEmbeddedPostgres } from "./index";
import { isAlive } from "./postmaster";

// A process of its own between launcher and server: PostgreSQL does not notice that who started it is gone.
// Usage: supervisor STATE_DIR DATABASE [PORT]. Prints one JSON line when ready; ends on SIGTERM or with its parent.
const [stateDir, database, port] = process.argv.slice(2);
if (!stateDir || !database) throw new Error("usage: supervisor STATE_DIR DATABASE [PORT]");

const server = await startEmbeddedPostgres({ stateDir, port: port ? Number(port) : "free" });
await ensureDatabase(server.url, database);
const parent = Number(process.env.HELM_PARENT_PID) || null;
let ending = false;

async function end(): Promise<void> {
  if (ending) return;
  ending = true;
  await server.stop();
  process.exit(0);
}

process.on("SIGTERM", end);
process.on("SIGINT", end);
process.on("SIGHUP", end);
// Without the password: this line ends in a log file. Who needs it reads STATE_DIR/password.
const { port: listening, pid, adopted } = server;
console.log(JSON.stringify({ port: listening, role: ROLE, database, pid, adopted }));

setInterval(() => {
  if (parent !== null && !isAlive(parent)) void end();
  if (!ending && !isAlive(server.pid)) {
    console.error("the PostgreSQL server ended by itself; see server.log");
    process.exit(1);
  }
}, 500);
