import { spawn } from "node:child_process";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { processStart } from "./process-identity";
import { holdStateFolder } from "./state-folder";
import { temporaryFolder } from "./testing";

const hold = (stateDir: string, patienceMs = 0, signal = new AbortController().signal) =>
  holdStateFolder({ stateDir, program: "worker", variable: "HELM_WORKER_STATE", signal, patienceMs });

it("is one process's at a time, and says whose and what to do", async () => {
  const folder = join(await temporaryFolder(), "state");
  const giveBack = await hold(folder);
  await expect(hold(folder)).rejects.toThrow(
    new RegExp(`Process ${process.pid} has been a worker.*HELM_WORKER_STATE`),
  );
  await giveBack();
  expect(await readdir(folder)).toEqual([]);
  await hold(folder);
});

it("waits for one that ends, and for nobody once it is told to stop", async () => {
  const folder = await temporaryFolder();
  const other = spawn("sleep", ["60"]);
  onTestFinished(() => void other.kill("SIGKILL"));
  const pid = other.pid ?? 0;
  const exclusive = { id: "x", purpose: "worker", since: "then", pid, started: processStart(pid) };
  await writeFile(join(folder, "worker.lease"), JSON.stringify({ exclusive }));
  const stop = new AbortController();
  const stopped = hold(folder, 60_000, stop.signal);
  stop.abort();
  await expect(stopped).rejects.toThrow();
  const waiting = hold(folder, 60_000);
  other.kill("SIGKILL");
  await waiting;
});
