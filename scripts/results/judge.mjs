// The steps of results:judge, and the page from what they left. Runs under tsx: the judge is packages/cascade's.
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { JudgeRow } from "@helm/contracts";
import { KV, ROOT, STATE, VENV_PYTHON } from "../lib/paths.mjs";
import { main, Sorry } from "../lib/sorry.mjs";
import { judgePage } from "./judge-page.mjs";

const PAGE = join("docs", "results", "judge.md");
const FOLDER = join(STATE, "results", "judge");
const FIT_TASKS = join(FOLDER, "fit-tasks.jsonl");
const BUNDLED_TASKS = join("corpora", "bundled", "tasks.jsonl");
const PAIR = ["--source-model", join("models", "pilot"), "--target-model", join("models", "target")];

const STEPS = {
  fit: () => {
    python(["-m", "lifeboat_kv.family.fit_tasks", "--out", FIT_TASKS], "inherit");
    return ["--tasks", FIT_TASKS];
  },
  probes: () => ["--corpus", "bundled"],
  report: () => ["--tasks", BUNDLED_TASKS, "--timed"],
};

await main(() => {
  const asked = process.argv.slice(2);
  const unknown = asked.filter((name) => name !== "page" && !(name in STEPS));
  if (unknown.length > 0)
    throw new Sorry(
      `No such step: ${unknown.join(", ")}. There are ${Object.keys(STEPS).join(", ")} and page.`,
    );
  process.chdir(ROOT);
  mkdirSync(FOLDER, { recursive: true });
  for (const name of asked.length > 0 ? asked.filter((one) => one !== "page") : Object.keys(STEPS)) {
    console.log(`${name} ...`);
    collect(name, STEPS[name]());
  }
  const found = Object.fromEntries(Object.keys(STEPS).map((name) => [name, recorded(name)]));
  writeFileSync(PAGE, judgePage(found));
  console.log(`Written: ${PAGE}`);
});

/** Runs judge-rows to its end and keeps its events. Errors: Sorry where it fails. */
function collect(name, args) {
  const file = join(FOLDER, `${name}.jsonl`);
  const out = openSync(`${file}.part`, "w");
  try {
    python(["-m", "lifeboat_kv", "judge-rows", ...PAIR, ...args, "--device", "cpu"], out);
  } finally {
    closeSync(out);
  }
  renameSync(`${file}.part`, file);
}

function python(args, out) {
  const env = { ...process.env, PYTHONPATH: join(KV, "src"), OMP_WAIT_POLICY: "PASSIVE" };
  const ran = spawnSync(VENV_PYTHON, args, { env, stdio: ["ignore", out, "inherit"] });
  if (ran.status !== 0) throw new Sorry(`${args.join(" ")} ended with exit code ${ran.status}.`);
}

/** {at, rows} of a step. Errors: Sorry before it ran. */
function recorded(name) {
  const file = join(FOLDER, `${name}.jsonl`);
  if (!existsSync(file))
    throw new Sorry(`The step ${name} has to run first: npm run results:judge -- ${name}`);
  const events = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ type }) => type === "judge_rows");
  return {
    at: events[0]?.at ?? "",
    rows: events.flatMap(({ rows }) => rows.map((row) => JudgeRow.parse(row))),
  };
}
