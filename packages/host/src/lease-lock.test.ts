import { spawn } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { withLeaseLock } from "./lease-lock";
import { temporaryFolder } from "./testing";

const dead = (token: string) => JSON.stringify({ pid: 1, started: "0@gone", token });

it("lets one at a time in, of many that find the lock of a dead process", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "x.lock");
  let [inside, most, done] = [0, 0, 0];
  for (let round = 0; round < 20; round++) {
    await writeFile(path, dead(`t${round}`));
    await Promise.all(
      Array.from({ length: 8 }, () =>
        withLeaseLock(path, async () => {
          most = Math.max(most, ++inside);
          await new Promise((resolve) => setTimeout(resolve, 1));
          inside -= 1;
          done += 1;
        }),
      ),
    );
  }
  expect({ most, done }).toEqual({ most: 1, done: 160 });
  expect(await readdir(folder)).toEqual([]);
});

it("succeeds a remover that died as well, and one that died after it", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "x.lock");
  const { createHash } = await import("node:crypto");
  const claimOf = (content: string) =>
    `${path}.over.${createHash("sha256").update(content).digest("hex").slice(0, 24)}`;
  await writeFile(path, dead("lock"));
  await writeFile(claimOf(dead("lock")), dead("first"));
  await writeFile(claimOf(dead("first")), dead("second"));
  const order: number[] = [];
  await Promise.all([1, 2, 3].map((n) => withLeaseLock(path, async () => void order.push(n))));
  expect(order.sort()).toEqual([1, 2, 3]);
  expect(await readdir(folder)).toEqual([]);
});

it("is given back where the work fails", async () => {
  const path = join(await temporaryFolder(), "x.lock");
  await expect(withLeaseLock(path, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await withLeaseLock(path, async () => "in")).toBe("in");
});

it("keeps count over processes that are killed while they are in", { timeout: 120_000 }, async () => {
  const folder = await temporaryFolder();
  const counter = join(folder, "count");
  await writeFile(counter, "0");
  const program = new URL("./testing-lock-program.ts", import.meta.url).pathname;
  const run = (mode: string) =>
    new Promise<number | null>((resolve) => {
      const args = ["--import", "tsx", program, join(folder, "x.lock"), counter, mode];
      spawn(process.execPath, args, { stdio: "inherit" }).once("exit", (code) => resolve(code));
    });
  // Those who die do so by SIGKILL with the lock in their hands.
  const ends = await Promise.all(["count", "die", "count", "die", "count"].map(run));
  expect(ends).toEqual([0, null, 0, null, 0]);
  expect(await readFile(counter, "utf8")).toBe("120");
});
