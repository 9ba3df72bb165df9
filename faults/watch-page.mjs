/** Where each state may go; the control plane's own table, written here once more so that a fault in it shows. */
const MAY = {
  QUEUED: ["RUNNING", "CANCELLED"],
  RUNNING: ["LOST", "SUCCEEDED", "FAILED", "CANCELLED"],
  LOST: ["RUNNING", "CANCELLED", "QUEUED"],
  FAILED: ["QUEUED"],
  CANCELLED: ["QUEUED"],
  SUCCEEDED: [],
};

/** Every state that can lie between two looks. */
function reachable(from, to, steps = 3) {
  if (from === to) return true;
  return steps > 0 && MAY[from].some((next) => reachable(next, to, steps - 1));
}

/**
 * Asks what the run's page asks, again and again, also while things are being killed, and keeps what is not true:
 * an illegal way of states, a percent or a number that falls within an attempt, a verdict without its run.
 */
export class PageWatch {
  faults = [];
  states = [];
  /** Answers that were not a success, by what they said. */
  refusals = new Map();
  looks = 0;
  stopped = false;

  constructor(admin, id) {
    this.admin = admin;
    this.id = id;
  }

  start(everyMs = 150) {
    this.running = (async () => {
      while (!this.stopped) {
        await this.look();
        await new Promise((resolve) => setTimeout(resolve, everyMs));
      }
    })();
  }

  async stop() {
    this.stopped = true;
    await this.running;
    await this.look();
  }

  async look() {
    let run;
    try {
      run = await this.admin.ask("calibration.get", { id: this.id });
    } catch (error) {
      const text = String(error.cause?.code ?? error.message);
      this.refusals.set(text, (this.refusals.get(text) ?? 0) + 1);
      return;
    }
    this.looks += 1;
    const before = this.last;
    this.last = run;
    if (this.states.at(-1) !== run.state) this.states.push(run.state);
    const say = (text) => this.faults.push(`${text} (attempt ${run.attempt}, ${run.state})`);
    const done = run.state === "SUCCEEDED";
    if (done !== (run.verdict !== null)) say("verdict and state disagree");
    if (done !== (run.mapperSha256 !== null)) say("mapper and state disagree");
    if (run.state === "RUNNING" && run.attempts.at(-1)?.state !== "RUNNING")
      say("RUNNING without a running attempt");
    if (run.attempts.some((one, i) => one.number !== i + 1)) say("attempts are missing");
    if (!before) return;
    if (!reachable(before.state, run.state)) say(`${before.state} cannot become ${run.state}`);
    if (run.attempt < before.attempt) say("the attempt's number fell");
    if (run.attempt !== before.attempt || run.state === "QUEUED") return;
    if (run.lastSeq < before.lastSeq) say(`last number fell from ${before.lastSeq} to ${run.lastSeq}`);
    if (run.percent < before.percent) say(`percent fell from ${before.percent} to ${run.percent}`);
  }
}
