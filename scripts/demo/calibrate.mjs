import { seconds } from "../lib/progress.mjs";
import { Sorry } from "../lib/sorry.mjs";
import { until } from "./admin.mjs";

const terminal = process.stdout.isTTY && !process.env.CI;
const OPEN = new Set(["QUEUED", "RUNNING"]);

/** Starts a calibration on the worker and follows it to its end; returns the finished run. */
export async function calibrate(admin, pair, { device, corpus, signal }) {
  const { id } = await admin.change("calibration.start", { pairId: pair.id, device, corpus });
  const started = Date.now();
  let said = "";
  const run = await until(`The calibration of ${pair.name}`, 45 * 60_000, async () => {
    signal.throwIfAborted();
    const now = await admin.ask("calibration.get", { id });
    const line = progressLine(now);
    // Off a terminal a line for each tenth is enough.
    const mark = terminal ? line : `${now.stage ?? now.state} ${Math.floor(now.percent / 10)}`;
    if (mark !== said) {
      said = mark;
      process.stdout.write(terminal ? `\r\u001b[K  ${line}` : `  ${line}\n`);
    }
    return OPEN.has(now.state) ? null : now;
  });
  if (terminal) process.stdout.write("\r\u001b[K");
  if (run.state !== "SUCCEEDED") {
    throw new Sorry(
      `The calibration of ${pair.name} ended ${run.state}: ${run.error?.message ?? "no reason"}`,
    );
  }
  console.log(`  ✓ ${pair.name} calibrated in ${seconds(Date.now() - started)}: ${run.verdict}`);
  console.log(`    ${run.assessment.sentence}`);
  return run;
}

function progressLine(run) {
  if (run.state === "QUEUED") return `waiting: ${run.waitingReason ?? "for a worker"}`;
  const filled = Math.round(run.percent / 5);
  const bar = "█".repeat(filled) + "░".repeat(20 - filled);
  const rate = run.rate ? `, ${Math.round(run.rate)} ${run.unit}/s` : "";
  return `${bar} ${run.percent.toFixed(0).padStart(3)} %  ${run.stage ?? "starting"}${rate}`;
}
