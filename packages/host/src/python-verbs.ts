import {
  type DeviceTelemetry,
  DoctorEvent,
  ExitCode,
  GuardEvent,
  InspectionEvent,
  type ModelFacts,
} from "@helm/contracts";
import { z } from "zod";
import { type PythonHome, runPython } from "./python";

const Failed = z.looseObject({
  type: z.literal("failed"),
  code: z.string(),
  message: z.string(),
  exit_code: z.number().int(),
});

/** A verb of the library that ended with its own code, sentence and exit code. */
export class PythonFailure extends Error {
  override name = "PythonFailure";
  constructor(
    readonly code: string,
    message: string,
    readonly exitCode: number,
  ) {
    super(message);
  }
}

/** Reading hundreds of GiB of weights for their digest takes its time; a disk that is gone takes for ever. */
const INSPECTION_PATIENCE_MS = 1_800_000;

/** Facts of the model in `folder`. Errors: PythonFailure. */
export async function inspectModel(
  home: PythonHome,
  folder: string,
  patienceMs = INSPECTION_PATIENCE_MS,
): Promise<ModelFacts> {
  const late = new PythonFailure(
    "INSPECTION_HANGS",
    `its files could not be read within ${patienceMs / 1000} s; look at the disk they lie on, and try again: files of 256 MiB and more that were read whole are remembered`,
    ExitCode.unreadable,
  );
  return (await oneAnswer(home, ["inspect", folder], InspectionEvent, { ms: patienceMs, late })).facts;
}

/** A driver that is broken may never answer; a healthy one does within seconds, and torch within tens. */
const DOCTOR_PATIENCE_MS = 120_000;

/** This host's accelerators, and what the installed torch can use. Errors: PythonFailure. */
export async function askDoctor(
  home: PythonHome,
  patienceMs = DOCTOR_PATIENCE_MS,
): Promise<z.infer<typeof DoctorEvent>> {
  const late = new PythonFailure(
    "DOCTOR_HANGS",
    `this host's GPU driver gave no answer within ${patienceMs / 1000} s; look at nvidia-smi or amd-smi`,
    ExitCode.noAccelerator,
  );
  return oneAnswer(home, ["doctor"], DoctorEvent, { ms: patienceMs, late });
}

/** Well above what amd-smi's two questions may take before they are given up. */
const GUARD_PATIENCE_MS = 60_000;

/**
 * What is free on a device (`cpu`, `cuda:N`, `rocm:N` or a GPU's UUID) and who computes there; `own` are our engines, whose
 * main memory is told beside a CPU. Errors: PythonFailure.
 */
export async function askGuard(
  home: PythonHome,
  device: string,
  own: readonly number[] = [],
  patienceMs = GUARD_PATIENCE_MS,
): Promise<DeviceTelemetry> {
  const late = new PythonFailure(
    "GUARD_HANGS",
    `the driver of ${device} gave no answer within ${patienceMs / 1000} s; look at nvidia-smi or amd-smi`,
    ExitCode.noAccelerator,
  );
  const args = ["guard", "--device", device, ...own.flatMap((pid) => ["--pid", String(pid)])];
  return (await oneAnswer(home, args, GuardEvent, { ms: patienceMs, late })).device;
}

async function oneAnswer<T extends z.ZodType>(
  home: PythonHome,
  args: string[],
  schema: T,
  patience: { ms: number; late: PythonFailure },
): Promise<z.infer<T>> {
  const events: unknown[] = [];
  const log: string[] = [];
  const run = await runPython(home, args, {
    onEvent: (event) => events.push(event),
    onNoise: (line) => log.push(line),
    onLog: (line) => log.push(line),
  });
  let timer: NodeJS.Timeout | undefined;
  // A process that waits for a device or a lost disk cannot always be killed: it is not waited for.
  const patienceEnds = new Promise<null>((resolve) => {
    timer = setTimeout(() => {
      void run.end(0);
      resolve(null);
    }, patience.ms);
  });
  const exit = await Promise.race([run.done, patienceEnds]).finally(() => clearTimeout(timer));
  for (const event of events) {
    const answer = schema.safeParse(event);
    if (answer.success) return answer.data;
    const failed = Failed.safeParse(event);
    if (failed.success) throw new PythonFailure(failed.data.code, failed.data.message, failed.data.exit_code);
  }
  if (exit === null) throw patience.late;
  const last = log.at(-1) ?? "it printed nothing";
  throw new PythonFailure(
    "PYTHON_DIED",
    `lifeboat_kv ${args[0]} ended with ${exit.signal ?? exit.code}: ${last}`,
    1,
  );
}
