import { join } from "node:path";
import { run } from "./command.mjs";
import { KV, VENV_PYTHON } from "./paths.mjs";
import { step } from "./progress.mjs";

/** The evaluation harness in an environment of its own; about 40 s and 230 MB the first time. Errors: Sorry. */
export async function ensureEvaluate() {
  await step("Installing the evaluation harness (first time only)", () =>
    run(VENV_PYTHON, ["-m", "lifeboat_kv", "evaluate", "--install"], {
      log: "evaluate-install",
      cwd: KV,
      env: { PYTHONPATH: join(KV, "src") },
      hint: "Is the Python package index reachable? ",
    }),
  );
  return join(KV, ".venv-evaluate", "bin", "python");
}
