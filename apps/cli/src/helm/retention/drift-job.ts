import type { PythonHome } from "@helm/host";
import { z } from "zod";
import type { Context } from "../../context";
import { Failure } from "../../failure";
import { died, runJob, sentence } from "../job/run";

const Failed = z.looseObject({
  type: z.literal("failed"),
  code: z.string(),
  message: z.string(),
  exit_code: z.number().int(),
});
const Log = z.looseObject({ type: z.literal("log"), message: z.string() });

/** Runs `python -m lifeboat_kv drift`; its progress is said in log events. Errors: Failure with the job's own reason. */
export async function runDriftJob(
  context: Context,
  python: PythonHome,
  args: string[],
  take: (event: unknown) => void,
): Promise<void> {
  let failed: z.infer<typeof Failed> | null = null;
  const { exit, log } = await runJob(context, python, {
    args: ["drift", ...args],
    take: (line, view) => {
      take(line);
      failed = Failed.safeParse(line).data ?? failed;
      const said = Log.safeParse(line).data;
      const [, done, of] = said ? (/^(\d+) of (\d+) /.exec(said.message) ?? []) : [];
      if (done && of)
        view.update({ stage: "drift", percent: (100 * Number(done)) / Number(of), rate: null, unit: null });
    },
    interrupted: "Nothing was stored.",
  });
  const why = failed as z.infer<typeof Failed> | null;
  if (why) throw new Failure(why.exit_code, why.code, sentence(why.message));
  if (exit.code !== 0) throw died(exit, log);
}
