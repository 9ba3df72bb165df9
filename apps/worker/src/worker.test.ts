import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { acquireDeviceLease, type PythonHome } from "@helm/host";
import { expect, it, onTestFinished, vi } from "vitest";
import { calibrationJob, scriptedPython, TestControlPlane, workerOptions } from "./testing";
import { work } from "./worker";

async function setUp(python: PythonHome, job = calibrationJob()) {
  const controlPlane = new TestControlPlane();
  await controlPlane.start();
  const options = await workerOptions(controlPlane, python);
  controlPlane.jobs.push(job);
  const start = () => {
    const running = work(options);
    onTestFinished(async () => {
      options.stop();
      await running.catch(() => undefined);
      await controlPlane.stop();
    });
    return running;
  };
  const outbox = () => readdir(join(options.config.stateDir, "outbox")).catch(() => []);
  return { controlPlane, options, start, outbox };
}

const within = { timeout: 60_000, interval: 50 };
// Real processes and real waiting: slow where the machine is busy.
vi.setConfig({ testTimeout: 240_000 });

it("offers what it has, runs a job, numbers its events, uploads by digest and finishes", async () => {
  const { controlPlane, options, start, outbox } = await setUp(
    await scriptedPython(`for (let i = 0; i < 5; i++) { log("step " + i); await sleep(50); } result();`),
  );
  void start();
  await expect.poll(() => controlPlane.finished, within).toHaveLength(1);
  expect(controlPlane.claims[0]).toMatchObject({
    models: ["pilot", "target"],
    corpora: ["bundled"],
    devices: ["cpu"],
  });
  expect(controlPlane.seqs).toEqual([1, 2, 3, 4, 5, 6]);
  expect(controlPlane.uploads).toEqual([{ path: expect.stringContaining("abab"), bytes: 6 }]);
  expect(controlPlane.finished[0]).toMatchObject({ outcome: "fitted", attempt: "attempt-1", exit_code: 0 });
  expect(JSON.stringify(controlPlane.batches)).not.toContain(options.config.stateDir);
  await expect.poll(outbox, within).toEqual([]);
  expect(await readdir(join(options.config.stateDir, "artifacts"))).toEqual([]);
  // Idle, it takes and leaves the lease for a moment at every claim.
  await expect.poll(() => readdir(options.config.leaseDir), within).toEqual([]);
});

it("goes on while the control plane is away and delivers everything in order afterwards", async () => {
  const { controlPlane, start } = await setUp(
    await scriptedPython(`for (let i = 0; i < 30; i++) { log("step " + i); await sleep(50); } result();`),
  );
  void start();
  await expect.poll(() => controlPlane.seqs.length, within).toBeGreaterThan(2);
  await controlPlane.stop();
  await new Promise((resolve) => setTimeout(resolve, 2500));
  await controlPlane.start();
  await expect.poll(() => controlPlane.finished, within).toHaveLength(1);
  expect([...new Set(controlPlane.seqs)]).toEqual(Array.from({ length: 31 }, (_, i) => i + 1));
  expect(controlPlane.finished[0]?.outcome).toBe("fitted");
});

it("ends the job with its children when it is told to cancel", async () => {
  const { controlPlane, start } = await setUp(await scriptedPython(`log("running"); await sleep(60000);`));
  void start();
  await expect.poll(() => controlPlane.seqs.length, within).toBe(1);
  controlPlane.action = "cancel";
  await expect.poll(() => controlPlane.finished, within).toHaveLength(1);
  expect(controlPlane.finished[0]).toMatchObject({ outcome: "cancelled", exit_code: 130 });
  expect(controlPlane.uploads).toEqual([]);
});

it("stops and sends nothing more once a newer attempt exists", async () => {
  const { controlPlane, start, outbox } = await setUp(
    await scriptedPython(`log("running"); await sleep(60000);`),
  );
  void start();
  await expect.poll(() => controlPlane.seqs.length, within).toBe(1);
  controlPlane.fenced = true;
  await expect.poll(outbox, within).toEqual([]);
  expect(controlPlane.finished).toEqual([]);
});

it("passes on the job's own failure, and says what happened where it has none", async () => {
  const failing = await setUp(
    await scriptedPython(
      `emit({ type: "failed", code: "CORPUS_TOO_SHORT", message: "too short", exit_code: 5 }); process.exitCode = 5;`,
    ),
  );
  void failing.start();
  await expect.poll(() => failing.controlPlane.finished, within).toHaveLength(1);
  expect(failing.controlPlane.finished[0]).toMatchObject({
    outcome: "failed",
    code: "CORPUS_TOO_SHORT",
    exit_code: 5,
  });

  const silent = await setUp(await scriptedPython(`console.log("no json"); console.log('{"type":"odd"}');`));
  void silent.start();
  await expect.poll(() => silent.controlPlane.finished, within).toHaveLength(1);
  expect(silent.controlPlane.finished[0]).toMatchObject({ outcome: "failed", code: "RESULT_MISSING" });

  const killed = await setUp(await scriptedPython(`process.kill(process.pid, "SIGKILL");`));
  void killed.start();
  await expect.poll(() => killed.controlPlane.finished, within).toHaveLength(1);
  expect(killed.controlPlane.finished[0]).toMatchObject({
    outcome: "failed",
    code: "MEMORY_SHORT",
    exit_code: 6,
  });
});

it("ends a run whose events are refused for good as failed", async () => {
  const { controlPlane, start } = await setUp(await scriptedPython(`log("one"); result();`));
  controlPlane.refuseEvents = true;
  void start();
  await expect.poll(() => controlPlane.finished, within).toHaveLength(1);
  expect(controlPlane.finished[0]).toMatchObject({ outcome: "failed", code: "EVENTS_REFUSED" });
  expect(controlPlane.uploads).toEqual([]);
});

it.each([
  ["a start", `emit({ type: "started", method: "ridge" }); result();`, /^.*: started: pair/],
  [
    "counts with a NUL",
    `emit({ type: "counts", arm: "mapper", sequences: [{ id: "a\\0b" }] }); result();`,
    /counts: sequences/,
  ],
  ["a result", `emit({ type: "result", artifact: {} }); result();`, /result: artifact/],
])("fails a run that lost %s to the schema, instead of judging what is left", async (_, steps, said) => {
  const { controlPlane, start } = await setUp(await scriptedPython(steps));
  void start();
  await expect.poll(() => controlPlane.finished, within).toHaveLength(1);
  expect(controlPlane.finished[0]).toMatchObject({
    outcome: "failed",
    code: "EVENT_UNREADABLE",
    message: expect.stringMatching(said),
  });
  expect(controlPlane.uploads).toEqual([]);
});

it("mends a log line that no database can hold", async () => {
  const { controlPlane, start } = await setUp(
    await scriptedPython(`log("a\\0b" + String.fromCharCode(0xd800)); result();`),
  );
  void start();
  await expect.poll(() => controlPlane.finished, within).toHaveLength(1);
  expect(controlPlane.finished[0]).toMatchObject({ outcome: "fitted" });
  expect(controlPlane.batches[0]?.events[0]?.event).toMatchObject({ message: "a\ufffdb\ufffd" });
});

it("ends a job at once whose events are refused for good, by HTTP or in an ack, and says why", async () => {
  for (const ackCode of [null, "BAD_REQUEST", "GAP"]) {
    const { controlPlane, start } = await setUp(await scriptedPython(`log("one"); await sleep(200_000);`));
    controlPlane.refuseEvents = ackCode === null;
    controlPlane.ackCode = ackCode;
    void start();
    await expect.poll(() => controlPlane.finished, within).toHaveLength(1);
    expect(controlPlane.finished[0]).toMatchObject({ outcome: "failed", code: "EVENTS_REFUSED" });
  }
});

it("takes no model, corpus or option that is not allowed", async () => {
  const python = await scriptedPython(`result();`);
  const refused = async (changes: object) => {
    const { controlPlane, options, start } = await setUp(python, calibrationJob(changes));
    await mkdir(join(options.config.stateDir, "..", "secret"), { recursive: true });
    await writeFile(join(options.config.stateDir, "..", "secret", "config.json"), "{}");
    await symlink(
      join(options.config.stateDir, "..", "secret"),
      join(options.config.modelRoots[0] ?? "", "linked"),
    );
    void start();
    await expect.poll(() => controlPlane.finished, within).toHaveLength(1);
    options.stop();
    return controlPlane.finished[0]?.code;
  };
  expect(await refused({ source_model: "../secret" })).toBe("NOT_ALLOWED");
  expect(await refused({ source_model: "linked" })).toBe("NOT_ALLOWED");
  expect(await refused({ corpus: "/etc/passwd" })).toBe("NOT_ALLOWED");
  expect(await refused({ options: { shell: "rm" } })).toBe("BAD_OPTIONS");
});

it("tells a job of the hub only where its corpus is the hub's", async () => {
  const python = await scriptedPython(
    `log(JSON.stringify([process.env.HELM_HUB_ENDPOINT ?? null, process.argv.includes("hub:some/texts")])); result();`,
  );
  const told = async (changes: object) => {
    const { controlPlane, options, start } = await setUp(python, calibrationJob(changes));
    options.config.hub = {
      endpoint: "https://hub.example",
      storage: undefined,
      token: undefined,
      proxy: undefined,
      noProxy: undefined,
    };
    void start();
    await expect.poll(() => controlPlane.finished, within).toHaveLength(1);
    options.stop();
    const events = controlPlane.batches.flatMap((batch) => batch.events);
    return events.flatMap(({ event }) => (event.type === "log" ? [event.message] : []));
  };
  expect(await told({ corpus: "hub:some/texts" })).toEqual(['["https://hub.example",true]']);
  expect(await told({ corpus: "bundled" })).toEqual(["[null,false]"]);
});

it("keeps the outcome over its own restart and delivers it in its next life", async () => {
  const { controlPlane, options, start } = await setUp(
    await scriptedPython(`log("one"); await sleep(300); result();`),
  );
  const running = start();
  await expect.poll(() => controlPlane.seqs.length, within).toBe(1);
  await controlPlane.stop();
  await new Promise((resolve) => setTimeout(resolve, 1500));
  options.stop();
  await running;
  await controlPlane.start();
  const next = await workerOptions(controlPlane, options.python);
  const again = work({ ...next, config: options.config });
  await expect.poll(() => controlPlane.finished, within).toHaveLength(1);
  expect(controlPlane.finished[0]?.outcome).toBe("fitted");
  expect(controlPlane.uploads).toHaveLength(1);
  next.stop();
  await again;
});

it("takes nothing while the device is held, and says by whom", async () => {
  const { controlPlane, options, start } = await setUp(await scriptedPython(`result();`));
  const held = await acquireDeviceLease({
    directory: options.config.leaseDir,
    device: "cpu",
    purpose: "another run",
  });
  void start();
  await expect.poll(() => controlPlane.claims.length, within).toBeGreaterThan(0);
  expect(controlPlane.claims[0]?.waiting).toContain("another run");
  expect(controlPlane.finished).toEqual([]);
  if (held.ok) await held.lease.release();
  await expect.poll(() => controlPlane.finished, within).toHaveLength(1);
});
