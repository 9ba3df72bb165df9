import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { KV, ROOT, VENV_PYTHON } from "./paths.mjs";

/** Every suite gives {passed, failed, skipped}; one that breaks before it counts is one failure. */
export const SUITES = {
  verify: { title: "Format, lint, types, boundaries, docs", run: runVerify },
  unit: { title: "TypeScript: unit and integration on a real Postgres", run: runVitest },
  kv: { title: "Python: packages/kv", run: runPytest },
  demo: { title: "The demo: calibrate, route, escalate, transfer", run: runDemo },
  e2e: { title: "The whole product in a browser", run: runPlaywright },
};

async function runVerify() {
  const { code, output } = await stream(process.execPath, [join(ROOT, "scripts/verify.mjs")]);
  const line = /verify: (\d+) passed, (\d+) failed/.exec(output);
  return counted(code, line && { passed: Number(line[1]), failed: Number(line[2]), skipped: 0 });
}

async function runVitest() {
  const file = reportFile("vitest");
  const args = ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
  const { code } = await stream(join(ROOT, "node_modules/.bin/vitest"), args);
  const report = readReport(file);
  // A file that cannot be loaded has no tests of its own and still is a failure.
  const broken = report?.testResults.filter(
    (one) => one.status === "failed" && one.assertionResults.length === 0,
  ).length;
  return counted(
    code,
    report && {
      passed: report.numPassedTests,
      failed: report.numFailedTests + broken,
      skipped: report.numPendingTests + report.numTodoTests,
    },
  );
}

async function runPytest() {
  const file = reportFile("pytest.xml");
  const { code } = await stream(VENV_PYTHON, ["-m", "pytest", "-q", `--junitxml=${file}`], { cwd: KV });
  const suite = existsSync(file) ? readFileSync(file, "utf8").match(/<testsuite [^>]*>/)?.[0] : null;
  if (!suite) return counted(code, null);
  const count = (name) => Number(new RegExp(` ${name}="(\\d+)"`).exec(suite)?.[1] ?? 0);
  const failed = count("failures") + count("errors");
  return counted(code, {
    passed: count("tests") - failed - count("skipped"),
    failed,
    skipped: count("skipped"),
  });
}

async function runDemo() {
  const { code } = await stream(process.execPath, [join(ROOT, "scripts/demo.mjs")]);
  return counted(code, { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 });
}

async function runPlaywright() {
  const file = reportFile("playwright");
  const { code } = await stream(
    join(ROOT, "node_modules/.bin/playwright"),
    ["test", "--reporter=list,json"],
    {
      cwd: join(ROOT, "e2e"),
      env: { PLAYWRIGHT_JSON_OUTPUT_NAME: file },
    },
  );
  const stats = readReport(file)?.stats;
  return counted(
    code,
    stats && { passed: stats.expected, failed: stats.unexpected + stats.flaky, skipped: stats.skipped },
  );
}

function counted(code, counts) {
  const result = counts ?? { passed: 0, failed: 0, skipped: 0 };
  if (code !== 0 && result.failed === 0) result.failed = 1;
  if (code === 0 && result.passed === 0) result.failed += 1;
  return result;
}

function reportFile(name) {
  const file = join(ROOT, ".helm", "test-reports", name);
  rmSync(file, { force: true });
  return file;
}

function readReport(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null;
}

function stream(command, args, { cwd = ROOT, env = {} } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      // Small matrices on few cores: threads that wait for each other cost more than they bring.
      env: { ...process.env, OMP_NUM_THREADS: "1", ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
      process.stdout.write(chunk);
    });
    child.once("error", (error) => {
      console.error(`${command}: ${error.message}`);
      resolve({ code: 1, output });
    });
    child.once("close", (code) => resolve({ code: code ?? 1, output }));
  });
}
