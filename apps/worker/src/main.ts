import {
  askDoctor,
  createLogger,
  holdStateFolder,
  joinOnce,
  locatePython,
  redacted,
  watchParent,
} from "@helm/host";
import { readConfig, type WorkerConfig } from "./config";
import { chooseHardware, HardwareRefused } from "./hardware";
import { Bell, untilAnswered } from "./patience";
import { work } from "./worker";

const VERSION = "0.1.0";

async function main(): Promise<number> {
  const config = readConfig(process.env);
  const log = createLogger("worker", config.logLevel);
  log.info({ config: redacted({ ...config }) }, "starting");
  const stop = new AbortController();
  const end = (why: string) => {
    log.info({ why }, "stopping");
    stop.abort(new Error(why));
    // A job that does not end, or a control plane that does not answer, must not keep the worker.
    setTimeout(() => process.exit(0), 9_000).unref();
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => end(signal));
  watchParent(config.parentPid, () => end("the parent process is gone"));
  let giveBack = async () => {};
  try {
    const { stateDir } = config;
    giveBack = await holdStateFolder({
      stateDir,
      program: "worker",
      variable: "HELM_WORKER_STATE",
      signal: stop.signal,
    });
    const python = locatePython(config.python);
    const doctor = await askDoctor(python);
    const hardware = chooseHardware(
      doctor.devices.filter((device) => device.vendor !== "none"),
      config.device,
    );
    log.info({ verdict: hardware.verdict, device: hardware.device }, hardware.sentence);
    const identity = await untilAnswered(() => join(config, hardware), new Bell(), stop.signal);
    log.info({ worker: identity.id, controlUrl: config.controlUrl }, "joined");
    await work({ config, identity, hardware, python, log, signal: stop.signal });
    return 0;
  } catch (error) {
    if (stop.signal.aborted) return 0;
    log.fatal({ err: error }, (error as Error).message);
    return error instanceof HardwareRefused ? 4 : 1;
  } finally {
    await giveBack();
  }
}

function join(config: WorkerConfig, hardware: ReturnType<typeof chooseHardware>) {
  return joinOnce({
    controlUrl: config.controlUrl,
    stateDir: config.stateDir,
    joinToken: config.joinToken,
    request: {
      kind: "worker",
      name: config.name,
      version: VERSION,
      device: hardware.device,
      machine: config.machine,
      hardware: hardware.verdict,
      devices: hardware.devices,
    },
  });
}

process.exit(await main());
