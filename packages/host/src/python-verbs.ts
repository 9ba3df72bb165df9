import { DoctorEvent, InspectionEvent, type ModelFacts } from "@helm/contracts";
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

/** This host's accelerators, and what the installed torch can use. Errors: PythonFailure. */
export async function askDoctor(home: PythonHome): Promise<z.infer<typeof DoctorEvent>> {
  return oneAnswer(home, ["doctor"], DoctorEvent);
}

async function oneAnswer<T extends z.ZodType>(
  home: PythonHome,
  args: string[],
  schema: T,
): Promise<z.infer<T>> {
  const events: unknown[] = [];
  const log: string[] = [];
  const run = await runPython(home, args, {
    onEvent: (event) => events.push(event),
    onNoise: (line) => log.push(line),
    onLog: (line) => log.push(line),
  });
  const exit = await run.done;
  for (const event of events) {
    const answer = schema.safeParse(event);
    if (answer.success) return answer.data;
    const failed = Failed.safeParse(event);
    if (failed.success) throw new PythonFailure(failed.data.code, failed.data.message, failed.data.exit_code);
  }
  const last = log.at(-1) ?? "it printed nothing";
  throw new PythonFailure(
    "PYTHON_DIED",
    `lifeboat_kv ${args[0]} ended with ${exit.signal ?? exit.code}: ${last}`,
    1,
  );
}
