import { setTimeout as pause } from "node:timers/promises";
import {
  askDoctor,
  createLogger,
  HostRequestError,
  holdStateFolder,
  joinOnce,
  type Logger,
  locatePython,
  redacted,
  watchParent,
} from "@helm/host";
import { type NodeConfig, readConfig } from "./environment";
import { chooseHardware, HardwareRefused, type NodeHardware } from "./hardware";
import { Node } from "./node";
import type { Telemetry } from "./telemetry/telemetry";

const VERSION = "0.1.0";

async function main(): Promise<number> {
  const config = readConfig(process.env);
  const log = createLogger("node", config.logLevel);
  log.info({ config: redacted({ ...config }) }, "starting");
  const stop = new AbortController();
  const stopped = new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve()));
  const end = (why: string) => {
    if (!stop.signal.aborted) log.info({ why }, "stopping");
    stop.abort();
    // A request or an engine that does not end must not keep the node.
    setTimeout(() => process.exit(0), 20_000).unref();
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => end(signal));
  watchParent(config.parentPid, () => end("the parent process is gone"));
  let giveBack = async () => {};
  try {
    const { stateDir } = config;
    giveBack = await holdStateFolder({
      stateDir,
      program: "node",
      variable: "HELM_NODE_STATE",
      signal: stop.signal,
    });
    const python = locatePython(config.python);
    const hardware = chooseHardware((await askDoctor(python)).devices, config.device);
    log.info({ verdict: hardware.verdict, device: hardware.device }, hardware.sentence);
    const identity = await join(config, hardware, log, stop.signal);
    const telemetry = await openTelemetry(config, identity.id);
    const node = new Node({ config, identity, hardware, python, log, telemetry });
    try {
      const port = await node.start();
      log.info({ node: identity.id, port }, "the gateway listens");
      await stopped;
    } finally {
      await node.stop();
      await telemetry?.stop();
    }
    return 0;
  } catch (error) {
    if (stop.signal.aborted) return 0;
    log.fatal({ err: error }, (error as Error).message);
    return error instanceof HardwareRefused ? 4 : 1;
  } finally {
    await giveBack();
  }
}

/** Spans go nowhere until somebody names a receiver. */
async function openTelemetry(config: NodeConfig, nodeId: string): Promise<Telemetry | null> {
  if (config.telemetry === null) return null;
  const { startTelemetry } = await import("./telemetry/telemetry");
  return startTelemetry({ ...config.telemetry, nodeId, version: VERSION });
}

/** Joins once in a host's life; until then a control plane that is away is waited for. */
async function join(config: NodeConfig, hardware: NodeHardware, log: Logger, signal: AbortSignal) {
  for (let wait = 500; ; wait = Math.min(5_000, wait * 2)) {
    try {
      return await joinOnce({
        controlUrl: config.controlUrl,
        stateDir: config.stateDir,
        joinToken: config.joinToken,
        request: {
          kind: "node",
          name: config.name,
          version: VERSION,
          device: hardware.device,
          hardware: hardware.verdict,
          devices: hardware.devices,
          engine: "reference",
          machine: config.machine,
          url: config.url ?? `http://${config.bind}:${config.port}`,
        },
      });
    } catch (error) {
      if (!(error instanceof HostRequestError) || !error.retriable) throw error;
      log.warn({ err: error }, "the control plane cannot be reached yet");
    }
    await pause(wait, undefined, { signal });
  }
}

process.exit(await main());
