import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { KV, ROOT, VENV_PYTHON } from "./paths.mjs";

const at = (...parts) => join(ROOT, ...parts);
const ENDS_WITH_LAUNCHER = pathToFileURL(at("scripts/lib/end-with-parent.mjs")).href;

/** How to run one of our programs: its bundle, or its source with reload. */
function own(folder, dev) {
  const cwd = at(folder);
  if (!dev) return { args: ["--enable-source-maps", at(folder, "dist/main.js")], cwd };
  const tsx = [at("node_modules/tsx/dist/cli.mjs"), "watch", "--clear-screen=false"];
  // The program's parent is then tsx and not the launcher, so tsx keeps watch on the launcher.
  return {
    args: ["--import", ENDS_WITH_LAUNCHER, ...tsx, at(folder, "src/main.ts")],
    cwd,
    watchesLauncher: true,
  };
}

export function postgresProgram(stateDir) {
  return {
    name: "postgres",
    args: [at("packages/db/dist/supervisor.js"), join(stateDir, "postgres"), "helm"],
    cwd: ROOT,
    env: {},
  };
}

export function controlPlaneProgram({
  stateDir,
  ports,
  publicUrl,
  databaseUrl,
  embedded,
  secrets,
  joinTokens,
  seed,
  dev,
}) {
  return {
    name: "control-plane",
    ...own("apps/control-plane", dev),
    env: {
      HELM_PORT: String(ports.controlPlane),
      HELM_BIND: "127.0.0.1",
      DATABASE_URL: databaseUrl,
      HELM_DATABASE_EMBEDDED: String(embedded),
      HELM_STATE_DIR: stateDir,
      HELM_MIGRATIONS_DIR: at("prisma/migrations"),
      HELM_PUBLIC_URL: publicUrl,
      HELM_SETUP_TOKEN: secrets.setupToken,
      HELM_AUTH_SECRET: secrets.authSecret,
      HELM_BOOTSTRAP_JOIN_TOKENS: Object.entries(joinTokens)
        .map(([kind, token]) => `${kind}:${token}`)
        .join(","),
      HELM_SEED: seed,
      // The console beside it passes browsers' requests on and says whose they are; who else is on this machine cannot.
      HELM_CONSOLE_SECRET: secrets.consoleSecret,
    },
  };
}

export function consoleProgram({ ports, controlPlaneUrl, secrets, dev }) {
  return {
    name: "console",
    args: [
      "--import",
      ENDS_WITH_LAUNCHER,
      at("node_modules/next/dist/bin/next"),
      dev ? "dev" : "start",
      "--port",
      String(ports.console),
      "--hostname",
      "127.0.0.1",
    ],
    cwd: at("apps/console"),
    watchesLauncher: true,
    env: {
      HELM_CONTROL_URL: controlPlaneUrl,
      HELM_CONSOLE_SECRET: secrets.consoleSecret,
      NODE_ENV: dev ? "development" : "production",
      NEXT_TELEMETRY_DISABLED: "1",
    },
  };
}

export function workerProgram({ stateDir, controlPlaneUrl, joinTokens, device, dev }) {
  return {
    name: "worker",
    ...own("apps/worker", dev),
    env: {
      HELM_CONTROL_URL: controlPlaneUrl,
      ...(joinTokens.worker ? { HELM_JOIN_TOKEN: joinTokens.worker } : {}),
      HELM_WORKER_STATE: join(stateDir, "worker"),
      HELM_MODEL_ROOTS: process.env.HELM_MODEL_ROOTS ?? at("models"),
      HELM_CORPORA_ROOT: process.env.HELM_CORPORA_ROOT ?? at("corpora"),
      HELM_PYTHON: VENV_PYTHON,
      HELM_DEVICE: device,
      PYTHONPATH: join(KV, "src"),
    },
  };
}

export function nodeProgram({ stateDir, ports, controlPlaneUrl, joinTokens, device, dev }) {
  return {
    name: "node",
    ...own("apps/node", dev),
    env: {
      HELM_CONTROL_URL: controlPlaneUrl,
      ...(joinTokens.node ? { HELM_JOIN_TOKEN: joinTokens.node } : {}),
      HELM_NODE_STATE: join(stateDir, "node"),
      HELM_GATEWAY_PORT: String(ports.gateway),
      HELM_GATEWAY_BIND: process.env.HELM_GATEWAY_BIND ?? "127.0.0.1",
      HELM_PYTHON: VENV_PYTHON,
      HELM_DEVICE: device,
      HELM_ENGINE: "reference",
      HELM_ENGINE_MODELS:
        process.env.HELM_ENGINE_MODELS ?? `pilot=${at("models/pilot")},target=${at("models/target")}`,
      PYTHONPATH: join(KV, "src"),
    },
  };
}
