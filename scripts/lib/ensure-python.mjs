import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ask, askLater, run } from "./command.mjs";
import { installOrSay } from "./debian.mjs";
import { KV, VENV, VENV_PYTHON } from "./paths.mjs";
import { Sorry } from "./sorry.mjs";
import { digestOf, once } from "./stamp.mjs";

const LEAST = [3, 11];
const NAMES = ["python3", "python3.12", "python3.11", "python3.13"];

/** Makes the virtual environment of packages/kv and installs what its constraints name. */
export async function ensurePython() {
  const constraints = join(KV, "constraints.txt");
  const digest = () => digestOf([constraints, join(KV, "pyproject.toml")]);
  const stamp = join(VENV, ".helm-installed");
  // An environment whose making was interrupted has a Python and no pip.
  if (!existsSync(stamp) && ask(VENV_PYTHON, ["-m", "pip", "--version"]) === null) {
    const python = await findPython();
    rmSync(VENV, { recursive: true, force: true });
    await once({
      title: "Making the Python environment",
      stamp: join(VENV, ".helm-made"),
      digest: () => python,
      work: () => run(python, ["-m", "venv", VENV], { log: "venv" }),
    });
  }
  await once({
    title: "Installing Python packages (torch is large: minutes the first time)",
    stamp,
    digest,
    work: async () => {
      const pip = ["-m", "pip", "install", "--no-compile", "--disable-pip-version-check", "-c", constraints];
      const hint = "Is the Python package index reachable? ";
      // torch first and alone: pip then takes a build that the host's own configuration offers.
      await run(VENV_PYTHON, [...pip, "torch"], { log: "pip-torch", hint });
      await run(VENV_PYTHON, [...pip, "-e", `${KV}[dev,parquet]`], { log: "pip-install", hint });
    },
  });
  return VENV_PYTHON;
}

async function findPython() {
  const candidates = process.env.HELM_BASE_PYTHON ? [process.env.HELM_BASE_PYTHON] : NAMES;
  const found = candidates.map((name) => ({ name, version: versionOf(name) })).filter((one) => one.version);
  const fit = found.find(({ version: [major, minor] }) => major === LEAST[0] && minor >= LEAST[1]);
  if (!fit) {
    if (found.length > 0) {
      const versions = found.map((one) => `${one.name} is ${one.version.join(".")}`).join(", ");
      throw new Sorry(
        `Python ${LEAST.join(".")} or newer is needed (${versions}). Install it, or name one in HELM_BASE_PYTHON.`,
      );
    }
    await installOrSay({
      missing: "Python 3.11 or newer",
      debian: ["python3", "python3-venv"],
      brew: "brew install python@3.12",
    });
    return findPython();
  }
  if (ask(fit.name, ["-c", "import venv, ensurepip"]) === null) {
    const [major, minor] = fit.version;
    await installOrSay({
      missing: `Python's venv module for ${fit.name}`,
      debian: [fit.name === "python3" ? "python3-venv" : `python${major}.${minor}-venv`],
      brew: "brew install python@3.12",
    });
  }
  return fit.name;
}

function versionOf(name) {
  const text = ask(name, ["-c", "import sys; print('%d.%d' % sys.version_info[:2])"]);
  return text ? text.split(".").map(Number) : null;
}

/** "none", "allowed" or "refused" for this host, by the library's own judgement, with the devices' names. */
export async function hardwareOf(python) {
  const code =
    "import json; from lifeboat_kv.host.devices import host_devices, host_verdict; d = host_devices(); " +
    "print(json.dumps({'verdict': host_verdict(d), 'names': [x['name'] for x in d]}))";
  const options = { cwd: KV, env: { ...process.env, PYTHONPATH: join(KV, "src") }, timeout: 60_000 };
  const text = await askLater(python, ["-c", code], options);
  if (text === null)
    throw new Sorry(
      "The Python library could not say which GPUs this host has; remove packages/kv/.venv and start again.",
    );
  return JSON.parse(text);
}
