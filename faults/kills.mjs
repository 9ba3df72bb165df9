import { readFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../scripts/demo/admin.mjs";
import { Ledger, ledgerFaults } from "./ledger.mjs";
import { kill9, stillAlive } from "./processes.mjs";
import { PageWatch } from "./watch-page.mjs";

const OPEN = new Set(["QUEUED", "RUNNING"]);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Numbers that a seed repeats. */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One calibration of the bundled pair on `rig`, watched as its page watches it and held against a ledger. */
export class KilledRun {
  constructor(rig, { random = seeded(1), say = () => {} } = {}) {
    this.rig = rig;
    this.random = random;
    this.say = say;
    this.ledger = new Ledger(rig.stateDir);
  }

  async begin() {
    const { admin } = this.rig;
    this.ledger.start();
    const pair = await until("the pair being registered", 120_000, async () =>
      (await admin.ask("pair.list")).find((one) => one.source.id === "pilot" && one.target.id === "target"),
    );
    this.pairId = pair.id;
    const asked = { pairId: pair.id, corpus: "small", device: "cpu", k: 2 };
    ({ id: this.id } = await admin.change("calibration.start", asked));
    this.watch = new PageWatch(admin, this.id);
    this.watch.start();
  }

  get() {
    return this.rig.admin.ask("calibration.get", { id: this.id });
  }

  /** Waits until the newest attempt has come this far, and a moment more that the seed decides. */
  async reach(percent) {
    await until(`the run reaching ${percent} %`, 240_000, async () => {
      const run = await this.get().catch(() => null);
      if (run && !OPEN.has(run.state))
        throw new Error(`the run is ${run.state}: ${JSON.stringify(run.error)}`);
      return run?.state === "RUNNING" && run.percent >= percent && this.rig.jobOf().length > 0;
    });
    await pause(this.random() * 1_500);
  }

  async retry() {
    await this.rig.admin.change("calibration.retry", { id: this.id });
  }

  /** The job's own process: the run FAILED with a reason, and nothing of it is left. */
  async killJob(percent) {
    await this.reach(percent);
    const job = this.rig.jobOf();
    this.say(`kill -9 of the Python job at ${(await this.get()).percent} %`);
    kill9(job.slice(0, 1));
    const run = await this.ended();
    expectTrue(
      run.state === "FAILED" && run.error?.code === "MEMORY_SHORT",
      `after killing the job: ${said(run)}`,
    );
    await this.gone(job);
  }

  /** The worker: its job ends with it, and the run is LOST or, once the worker is back, FAILED by its word. */
  async killWorker(percent, awayMs = 0) {
    await this.reach(percent);
    const job = this.rig.jobOf();
    this.say(`kill -9 of the worker at ${(await this.get()).percent} %`);
    await this.rig.kill("worker");
    await this.gone(job);
    if (awayMs > 0) {
      const lost = await until("the run being LOST", awayMs + 60_000, async () => {
        const run = await this.get();
        return run.state === "RUNNING" ? null : run;
      });
      expectTrue(lost.state === "LOST", `after killing the worker: ${said(lost)}`);
    }
    await this.rig.startWorker();
    const run = await until("the worker's next life telling of it", 60_000, async () => {
      const now = await this.get();
      return now.state === "FAILED" ? now : null;
    });
    expectTrue(run.error?.code === "WORKER_RESTARTED", `after the worker's restart: ${said(run)}`);
  }

  /** The control plane: the worker goes on, and the same attempt goes on. */
  async killControlPlane(percent, awayMs) {
    await this.reach(percent);
    const before = await this.get();
    const job = this.rig.jobOf();
    this.say(`kill -9 of the control plane at ${before.percent} %, away for ${awayMs} ms`);
    await this.rig.kill("control-plane");
    await pause(awayMs);
    expectTrue(
      stillAlive(job).length === job.length || this.jobEnded(),
      "the job did not outlive the control plane",
    );
    await this.rig.startControlPlane();
    await this.goesOn(before);
  }

  /** PostgreSQL: requests are told so, and the same attempt goes on. */
  async killPostgres(percent, awayMs) {
    await this.reach(percent);
    const before = await this.get();
    this.say(`kill -9 of PostgreSQL at ${before.percent} %, away for ${awayMs} ms`);
    await this.rig.killPostgres();
    await pause(200);
    const answer = await fetch(`${this.rig.url}/trpc/setup.status`);
    const code = (await answer.json()).error?.json?.data?.helm?.code;
    expectTrue(
      answer.status === 503 && code === "DATABASE_DOWN",
      `without a database: ${answer.status} ${code}`,
    );
    await pause(awayMs);
    await this.rig.startPostgres();
    await until("the control plane being back", 60_000, () => this.rig.health());
    await this.goesOn(before);
  }

  /** The same attempt, not below what it had, and not ended by what happened to others. */
  async goesOn(before) {
    const run = await until("the run going on", 60_000, () => this.get().catch(() => null));
    expectTrue(run.attempt === before.attempt, `attempt ${before.attempt} became ${run.attempt}`);
    expectTrue(run.lastSeq >= before.lastSeq, `last number fell from ${before.lastSeq} to ${run.lastSeq}`);
    expectTrue(["RUNNING", "SUCCEEDED"].includes(run.state), `it did not go on: ${said(run)}`);
  }

  jobEnded() {
    return this.rig.jobOf().length === 0;
  }

  ended() {
    return until("the run ending", 300_000, async () => {
      const run = await this.get().catch(() => null);
      return run && !OPEN.has(run.state) ? run : null;
    });
  }

  async gone(processes) {
    await until("the job's processes being gone", 30_000, () => stillAlive(processes).length === 0);
  }

  /** To the end, then everything against the ledger. Gives the finished run. */
  async finish() {
    const run = await this.ended();
    await this.watch.stop();
    this.ledger.stop();
    expectTrue(run.state === "SUCCEEDED", `the run ended ${said(run)}`);
    const faults = [...this.watch.faults];
    const { admin } = this.rig;
    for (const attempt of run.attempts) {
      const { events } = await admin.ask("calibration.events", {
        id: this.id,
        attempt: attempt.number,
        limit: 1000,
      });
      faults.push(...ledgerFaults(this.ledger.of(attempt.id), events, `attempt ${attempt.number}`));
      this.acked = (this.acked ?? 0) + this.ledger.of(attempt.id).acked;
    }
    const mappers = await admin.ask("mapper.list", { pairId: this.pairId });
    const made = mappers.rows.filter((one) => one.calibrationId === this.id);
    if (made.length !== 1) faults.push(`${made.length} mappers of one run`);
    for (const attempt of run.attempts.slice(0, -1)) faults.push(...(await this.lateFaults(attempt)));
    if (faults.length > 0) throw new Error(`not as promised:\n  ${faults.join("\n  ")}`);
    return run;
  }

  /** What a fenced attempt still sends is refused, and says why. */
  async lateFaults(attempt) {
    const identity = join(this.rig.stateDir, "workers", "worker", "identity.json");
    const { credential } = JSON.parse(readFileSync(identity, "utf8"));
    const headers = { authorization: `Bearer ${credential}`, "content-type": "application/json" };
    const log = { v: 1, at: new Date().toISOString(), type: "log", level: "info", message: "late" };
    const seq = (this.ledger.of(attempt.id).acked || 0) + 1;
    const batch = { job: this.id, attempt: attempt.id, events: [{ seq, event: log }] };
    const finish = { attempt: attempt.id, outcome: "failed", code: "LATE", message: "late" };
    const faults = [];
    for (const [verb, body] of [
      ["events", batch],
      ["finish", finish],
    ]) {
      const response = await fetch(`${this.rig.url}/api/worker/jobs/${this.id}/${verb}`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      const code = (await response.json()).error?.code;
      if (code !== "ATTEMPT_FENCED")
        faults.push(`late ${verb} of attempt ${attempt.number}: ${response.status} ${code}`);
    }
    return faults;
  }
}

function said(run) {
  return `${run.state} ${run.error ? `${run.error.code}: ${run.error.message}` : ""}`;
}

export function expectTrue(holds, otherwise) {
  if (!holds) throw new Error(otherwise);
}
