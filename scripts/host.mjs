// npm run node, npm run worker: one more host for a Helm that runs elsewhere. HELM_CONTROL_URL and HELM_JOIN_TOKEN come from
// the page Nodes and workers; a host that has joined is started again without the token.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ensureBuilt, ensureInstalled } from "./lib/ensure-all.mjs";
import { hardwareOf } from "./lib/ensure-python.mjs";
import { STATE, VENV_PYTHON } from "./lib/paths.mjs";
import { nodeProgram, workerProgram } from "./lib/programs.mjs";
import { main, Sorry } from "./lib/sorry.mjs";

const kind = process.argv[2];

await main(async () => {
  if (kind !== "node" && kind !== "worker") throw new Sorry("Say which: node or worker.");
  // Beside a Helm of this checkout, not in it.
  const stateDir = resolve(process.env.HELM_STATE_DIR ?? join(STATE, "joined"));
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const identity = join(stateDir, kind, "identity.json");
  const joined = existsSync(identity) ? JSON.parse(readFileSync(identity, "utf8")) : null;
  const controlPlaneUrl = process.env.HELM_CONTROL_URL ?? joined?.control_url;
  const token = process.env.HELM_JOIN_TOKEN;
  if (!controlPlaneUrl || !(joined || token)) {
    throw new Sorry(
      `A ${kind} joins with HELM_CONTROL_URL and HELM_JOIN_TOKEN. The page Nodes and workers makes the whole command: Add a ${kind}.`,
    );
  }
  await ensureInstalled();
  await ensureBuilt({ console: false });
  const hardware = hardwareOf(VENV_PYTHON);
  const program = (kind === "node" ? nodeProgram : workerProgram)({
    stateDir,
    controlPlaneUrl,
    ports: { gateway: process.env.HELM_GATEWAY_PORT ?? 8000 },
    joinTokens: token ? { [kind]: token } : {},
    device: process.env.HELM_DEVICE ?? (hardware.verdict === "none" ? "cpu" : "auto"),
    dev: false,
  });
  const child = spawn(process.execPath, program.args, {
    cwd: program.cwd,
    env: {
      // The devices are this machine's, whoever uses them: one folder of leases with the Helm of this checkout.
      HELM_LEASE_DIR: join(STATE, "leases"),
      ...process.env,
      NODE_ENV: "production",
      ...program.env,
      HELM_PARENT_PID: String(process.pid),
    },
    stdio: "inherit",
  });
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => child.kill("SIGTERM"));
  process.exit(await new Promise((ended) => child.once("exit", (code) => ended(code ?? 1))));
});
