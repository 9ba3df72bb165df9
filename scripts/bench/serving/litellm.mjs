import { spawn } from "node:child_process";
import { existsSync, mkdirSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent, fetch } from "undici";
import { until } from "../../demo/admin.mjs";
import { tailOf } from "../../lib/child.mjs";
import { run } from "../../lib/command.mjs";
import { ROOT, VENV_PYTHON } from "../../lib/paths.mjs";
import { freePort } from "../../lib/ports.mjs";

/** Pinned: two releases of this package once held a thief of secrets, and none of them was this one. */
export const LITELLM = "1.106.12";
const KEY = "sk-of-the-measurement";
const HOME = join(ROOT, ".helm", "bench", `litellm-${LITELLM}`);

/** An environment of its own, about 400 MB the first time, never the product's. Errors: pip's own words. */
async function install() {
  const program = join(HOME, "bin", "litellm");
  if (existsSync(join(HOME, "installed"))) return program;
  rmSync(HOME, { recursive: true, force: true });
  mkdirSync(HOME, { recursive: true });
  await run(VENV_PYTHON, ["-m", "venv", HOME], { log: "litellm-venv" });
  const pip = [
    "-m",
    "pip",
    "install",
    "--no-compile",
    "--disable-pip-version-check",
    "--only-binary",
    ":all:",
  ];
  await run(join(HOME, "bin", "python"), [...pip, `litellm[proxy]==${LITELLM}`], { log: "litellm-pip" });
  writeFileSync(join(HOME, "installed"), LITELLM);
  return program;
}

/** A LiteLLM proxy in front of an engine, with a key to check as the gateway checks one. Errors: what stood in the way. */
export async function startLiteLlm(engineOrigin, folder, models) {
  const program = await install();
  const port = await freePort();
  const config = join(folder, "litellm.json");
  const litellm_params = (name) => ({
    model: `openai/${name}`,
    api_base: `${engineOrigin}/v1`,
    api_key: "none",
  });
  writeFileSync(
    config,
    JSON.stringify({
      model_list: models.map((name) => ({ model_name: name, litellm_params: litellm_params(name) })),
      litellm_settings: { telemetry: false, num_retries: 0, request_timeout: 120 },
      general_settings: { master_key: KEY },
    }),
  );
  const logFile = join(folder, "litellm.log");
  const log = openSync(logFile, "a", 0o600);
  const child = spawn(program, ["--config", config, "--host", "127.0.0.1", "--port", String(port)], {
    cwd: folder,
    detached: true,
    stdio: ["ignore", log, log],
    env: { ...process.env, LITELLM_LOG: "ERROR", LITELLM_LOCAL_MODEL_COST_MAP: "True", NO_DOCS: "True" },
  });
  let how = null;
  child.once("error", (error) => (how = error.message));
  child.once("exit", (code, signal) => (how = `it ended with ${signal ?? code}`));
  const stop = () => {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It is gone.
    }
  };
  const origin = `http://127.0.0.1:${port}`;
  const plain = new Agent({ pipelining: 0 });
  try {
    await until("LiteLLM answering", 120_000, async () => {
      if (how) throw new Error(`${how}: ${tailOf(logFile, 5)}`);
      const answer = await fetch(`${origin}/health/liveliness`, { dispatcher: plain }).catch(() => null);
      return answer?.ok;
    });
  } catch (error) {
    stop();
    throw error;
  } finally {
    await plain.close();
  }
  return { origin, key: KEY, pid: child.pid, stop };
}
