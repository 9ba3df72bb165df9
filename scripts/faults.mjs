// npm run test:faults: kill -9 of every part of the real product in the middle of real calibrations.
// Usage: npm run test:faults [-- --rounds N] [-- --seed S]
// Without --rounds it runs the short matrix of npm test; with it, N rounds of kills at moments that the seed decides.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { KilledRun, seeded } from "../faults/kills.mjs";
import { kill9 } from "../faults/processes.mjs";
import { LEASE_MS, Rig } from "../faults/rig.mjs";
import { ensureBuilt, ensureInstalled } from "./lib/ensure-all.mjs";
import { ROOT } from "./lib/paths.mjs";
import { seconds } from "./lib/progress.mjs";
import { main, Sorry } from "./lib/sorry.mjs";

const { values } = parseArgs({
  options: { rounds: { type: "string" }, seed: { type: "string", default: "1" } },
});

await main(async () => {
  await ensureInstalled();
  await ensureBuilt({ console: false });
  if (values.rounds === undefined) {
    const { status } = spawnSync(join(ROOT, "node_modules/.bin/vitest"), ["run", "--project", "faults"], {
      cwd: ROOT,
      stdio: "inherit",
    });
    process.exitCode = status ?? 1;
    return;
  }
  const rounds = Number(values.rounds);
  const first = Number(values.seed);
  if (!Number.isInteger(rounds) || rounds < 1 || !Number.isInteger(first))
    throw new Sorry("Usage: npm run test:faults [-- --rounds N] [-- --seed S]");
  const rig = new Rig();
  const kills = {};
  let acked = 0;
  let looks = 0;
  const began = Date.now();
  try {
    await rig.start();
    await rig.startWorker();
    for (let round = 0; round < rounds; round++) {
      const seed = first + round;
      console.log(`Round ${round + 1} of ${rounds}, seed ${seed}`);
      const run = await oneRound(rig, seed, kills);
      acked += run.acked;
      looks += run.watch.looks;
    }
  } catch (error) {
    console.log(`Logs: ${rig.stateDir}/logs`);
    throw error;
  } finally {
    await rig.stop();
    const left = rig.left();
    kill9(left);
    if (left.length > 0) {
      process.exitCode = 1;
      console.error(`${left.length} processes were left:\n${left.map((one) => one.command).join("\n")}`);
    }
  }
  rig.remove();
  const told = Object.entries(kills).map(([name, count]) => `${name} ${count}`);
  console.log(
    `${rounds} rounds in ${seconds(Date.now() - began)}: killed ${told.join(", ")}; ${acked} acknowledged events all in the table, once and in order; ${looks} looks at the page, none untrue; nothing left running.`,
  );
});

/** Three or four kills of random parts at random moments, then the run's end. */
async function oneRound(rig, seed, kills) {
  const random = seeded(seed);
  const run = new KilledRun(rig, { random, say: (text) => console.log(`  ${text}`) });
  await run.begin();
  const count = 3 + Math.floor(random() * 2);
  let percent = 0;
  for (let i = 0; i < count; i++) {
    // Never so late that the run may end before it is hit.
    percent = Math.min(60, percent + random() * 18);
    const away = random() < 0.3 ? LEASE_MS + 3_000 : random() * 4_000;
    const part = ["job", "worker", "control plane", "PostgreSQL"][Math.floor(random() * 4)];
    kills[part] = (kills[part] ?? 0) + 1;
    if (part === "control plane") await run.killControlPlane(percent, away);
    if (part === "PostgreSQL") await run.killPostgres(percent, away);
    if (part !== "job" && part !== "worker") continue;
    if (part === "job") await run.killJob(percent);
    else await run.killWorker(percent, random() < 0.4 ? LEASE_MS : 0);
    await run.retry();
    percent = 0;
  }
  const ended = await run.finish();
  console.log(`  ✓ ${ended.attempts.map(({ state }) => state).join(", ")}; ${run.watch.states.join(" -> ")}`);
  return run;
}
