import { spawn } from "node:child_process";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { acquireDeviceLease } from "./device-lease";
import { processStart } from "./process-identity";
import { temporaryFolder } from "./testing";

const take = (directory: string, purpose = "calibration") =>
  acquireDeviceLease({ directory, device: "cpu", purpose });

const writeHolder = (directory: string, holder: object) =>
  writeFile(
    join(directory, "cpu.lease"),
    JSON.stringify({ exclusive: { id: "x", purpose: "x", since: "", ...holder } }),
  );

it("is held by one at a time and names its holder", async () => {
  const directory = await temporaryFolder();
  const first = await take(directory);
  expect(first.ok).toBe(true);
  expect(await take(directory)).toMatchObject({
    ok: false,
    holder: { pid: process.pid, purpose: "calibration" },
  });
  if (first.ok) await first.lease.release();
  expect((await take(directory)).ok).toBe(true);
});

it("is given to exactly one of many that ask at once", async () => {
  const directory = await temporaryFolder();
  const results = await Promise.all(Array.from({ length: 12 }, () => take(directory)));
  expect(results.filter((result) => result.ok)).toHaveLength(1);
  expect(await readdir(directory)).toEqual(["cpu.lease"]);
});

it("is respected while its holder lives, and taken over once it is gone", async () => {
  const directory = await temporaryFolder();
  const other = spawn("sleep", ["30"]);
  const pid = other.pid ?? 0;
  await writeHolder(directory, { pid, started: processStart(pid) });
  expect((await take(directory)).ok).toBe(false);
  other.kill("SIGKILL");
  await new Promise((resolve) => other.once("exit", resolve));
  const results = await Promise.all(Array.from({ length: 6 }, () => take(directory)));
  expect(results.filter((result) => result.ok)).toHaveLength(1);
});

it("is taken over from a pid that now belongs to another process, and from a file without sense", async () => {
  const directory = await temporaryFolder();
  await writeHolder(directory, { pid: process.pid, started: "1" });
  const first = await take(directory);
  expect(first.ok).toBe(true);
  await writeFile(join(directory, "cpu.lease"), "half");
  expect((await take(directory)).ok).toBe(true);
  if (first.ok) await first.lease.release();
  expect((await take(directory)).ok).toBe(false);
});

it("refuses names that are no device", async () => {
  await expect(acquireDeviceLease({ directory: "/tmp", device: "../cpu", purpose: "x" })).rejects.toThrow();
});

it("is taken over from a killed holder only after what it left computing was ended, children too", async () => {
  const directory = await temporaryFolder();
  // A double of a Python job: leads a group of its own, has a child, and minds no SIGTERM.
  const job = spawn("sh", ["-c", "trap '' TERM; sleep 60 & echo $!; wait"], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const child = Number(String(await new Promise((resolve) => job.stdout.once("data", resolve))).trim());
  const pid = job.pid ?? 0;
  const left = { pid, started: processStart(pid) };
  await writeHolder(directory, { pid: 1, started: "0@gone", job: left });
  const taken = await take(directory);
  expect(taken.ok).toBe(true);
  expect(processStart(pid)).toBeNull();
  await expect.poll(() => processStart(child)).toBeNull();
});

it("leaves alone a process that got the pid of a job that is gone", async () => {
  const directory = await temporaryFolder();
  const stranger = spawn("sleep", ["30"], { detached: true });
  const pid = stranger.pid ?? 0;
  await writeHolder(directory, { pid: 1, started: "0@gone", job: { pid, started: "12@elsewhere" } });
  expect((await take(directory)).ok).toBe(true);
  expect(processStart(pid)).not.toBeNull();
  stranger.kill("SIGKILL");
});

it("keeps its job's group in its file, is still its own, and says so to who asks", async () => {
  const directory = await temporaryFolder();
  const first = await take(directory);
  const job = spawn("sleep", ["30"], { detached: true });
  if (first.ok) await first.lease.noteJob(job.pid ?? 0);
  expect(await take(directory)).toMatchObject({ ok: false, holder: { job: { pid: job.pid } } });
  if (first.ok) await first.lease.release();
  job.kill("SIGKILL");
  expect(await readdir(directory)).toEqual([]);
});

it.each([-5, 5])("is the same with a clock set by %i hours while it is held", async (hours) => {
  const directory = await temporaryFolder();
  const first = await take(directory);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hours * 3_600_000 });
  expect((await take(directory)).ok).toBe(false);
  if (first.ok) await first.lease.release();
  expect((await take(directory)).ok).toBe(true);
  vi.useRealTimers();
});
