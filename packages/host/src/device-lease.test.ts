import { spawn } from "node:child_process";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { acquireDeviceLease } from "./device-lease";
import { processStart } from "./process-identity";
import { temporaryFolder } from "./testing";

const take = (directory: string, purpose = "calibration") =>
  acquireDeviceLease({ directory, device: "cpu", purpose });

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
  const holder = { pid, started: processStart(pid), purpose: "x", since: "now" };
  await writeFile(join(directory, "cpu.lease"), JSON.stringify(holder));
  expect((await take(directory)).ok).toBe(false);
  other.kill("SIGKILL");
  await new Promise((resolve) => other.once("exit", resolve));
  const results = await Promise.all(Array.from({ length: 6 }, () => take(directory)));
  expect(results.filter((result) => result.ok)).toHaveLength(1);
});

it("is taken over from a pid that now belongs to another process, and from a file without sense", async () => {
  const directory = await temporaryFolder();
  await writeFile(
    join(directory, "cpu.lease"),
    JSON.stringify({ pid: process.pid, started: "1", purpose: "x", since: "" }),
  );
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
