import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { findDocFaults } from "./doc-paths.mjs";
import { KV, ROOT, VENV } from "./paths.mjs";

const bin = (name) => join(ROOT, "node_modules", ".bin", name);
const ruff = join(VENV, "bin", "ruff");
// The native compiler takes a tenth of the time; the one named typescript stays for tools that load it as a library.
const tsc = join(ROOT, "node_modules", "typescript-native", "bin", "tsc");

/** Each check gives {ok, output}; the slow ones come first so that two cores stay busy. */
export function allChecks() {
  return [
    ...workspaces().map((folder) => ({
      name: `types ${relative(ROOT, folder)}`,
      work: () => typecheck(folder),
    })),
    {
      name: "import boundaries",
      work: () =>
        capture(bin("depcruise"), [
          "--config",
          ".dependency-cruiser.mjs",
          "--output-type",
          "err",
          ...sources(),
        ]),
    },
    { name: "format and lint", work: () => capture(bin("biome"), ["check", "--max-diagnostics=50"]) },
    { name: "format and lint of Python", work: checkPython },
    { name: "paths and commands in the docs", work: checkDocs },
  ];
}

function workspaces() {
  const parents = ["apps", "packages"].flatMap((parent) =>
    readdirSync(join(ROOT, parent)).map((name) => join(ROOT, parent, name)),
  );
  const order = ["control-plane", "console", "cli"];
  const rank = (folder) =>
    (order.findIndex((name) => folder.endsWith(name)) + order.length + 1) % (order.length + 1);
  return [...parents, join(ROOT, "e2e")]
    .filter((folder) => existsSync(join(folder, "tsconfig.json")))
    .sort((a, b) => rank(a) - rank(b));
}

function sources() {
  return ["apps", "packages"].flatMap((parent) =>
    readdirSync(join(ROOT, parent))
      .filter((name) => existsSync(join(ROOT, parent, name, "package.json")))
      .map((name) => `${parent}/${name}`),
  );
}

function typecheck(folder) {
  const cache = join(ROOT, "node_modules", ".cache", "tsc");
  mkdirSync(cache, { recursive: true });
  const info = join(cache, `${relative(ROOT, folder).replaceAll("/", "-")}.tsbuildinfo`);
  return capture(process.execPath, [
    tsc,
    "--noEmit",
    "--incremental",
    "--tsBuildInfoFile",
    info,
    "-p",
    folder,
  ]);
}

async function checkPython() {
  const lint = await capture(ruff, ["check", "--quiet", KV]);
  const format = await capture(ruff, ["format", "--check", "--quiet", KV]);
  return { ok: lint.ok && format.ok, output: lint.output + format.output };
}

async function checkDocs() {
  const faults = findDocFaults();
  return { ok: faults.length === 0, output: faults.join("\n") };
}

function capture(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    child.once("error", (error) => resolve({ ok: false, output: error.message }));
    child.once("close", (code) => resolve({ ok: code === 0, output }));
  });
}
