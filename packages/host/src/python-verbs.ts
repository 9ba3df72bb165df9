import { DoctorEvent, ExitCode, InspectionEvent, type ModelFacts } from "@helm/contracts";
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

/** Facts of the model in `folder`. Errors: PythonFailure. */
export async function inspectModel(home: PythonHome, folder: string): Promise<ModelFacts> {
  return (await oneAnswer(home, ["inspect", folder], InspectionEvent)).facts;
}

/** A driver that is broken may never answer; a healthy one does within seconds, and torch within tens. */
const DOCTOR_PATIENCE_MS = 120_000;

/** This host's accelerators, and what the installed torch can use. Errors: PythonFailure. */
export async function askDoctor(
  home: PythonHome,
  patienceMs = DOCTOR_PATIENCE_MS,
): Promise<z.infer<typeof DoctorEvent>> {
  return oneAnswer(home, ["doctor"], DoctorEvent, patienceMs);
}

async function oneAnswer<T extends z.ZodType>(
  home: PythonHome,
  args: string[],
  schema: T,
  patienceMs?: number,
): Promise<z.infer<T>> {
  const events: unknown[] = [];
  const log: string[] = [];
  const run = await runPython(home, args, {
    onEvent: (event) => events.push(event),
    onNoise: (line) => log.push(line),
    onLog: (line) => log.push(line),
  });
  let late = false;
  const giveUp = () => {
    late = true;
    void run.end(0);
  };
  const timer = patienceMs === undefined ? undefined : setTimeout(giveUp, patienceMs);
  const exit = await run.done.finally(() => clearTimeout(timer));
  for (const event of events) {
    const answer = schema.safeParse(event);
    if (answer.success) return answer.data;
    const failed = Failed.safeParse(event);
    if (failed.success) throw new PythonFailure(failed.data.code, failed.data.message, failed.data.exit_code);
  }
  if (late) {
    throw new PythonFailure(
      "DOCTOR_HANGS",
      `this host's GPU driver gave no answer within ${(patienceMs ?? 0) / 1000} s; look at nvidia-smi or amd-smi`,
      ExitCode.noAccelerator,
    );
  }
  const last = log.at(-1) ?? "it printed nothing";
  throw new PythonFailure(
    "PYTHON_DIED",
    `lifeboat_kv ${args[0]} ended with ${exit.signal ?? exit.code}: ${last}`,
    1,
  );
}
