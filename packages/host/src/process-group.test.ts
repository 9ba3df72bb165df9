import { expect, it } from "vitest";
import { groupMembers, spawnGroup } from "./process-group";
import { processStart } from "./process-identity";

async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve) => stream.once("data", (chunk) => resolve(String(chunk).trim())));
}

it("ends a child together with the children it started", async () => {
  const child = await spawnGroup("sh", ["-c", "sleep 60 & echo $!; wait"]);
  const grandchild = Number(await firstLine(child.stdout));
  expect(processStart(grandchild)).not.toBeNull();
  const exit = await child.end(15_000);
  expect(exit.signal).toBe("SIGTERM");
  await expect.poll(() => processStart(grandchild), { timeout: 15_000 }).toBeNull();
});

it("kills a child that does not listen, after its grace", async () => {
  const child = await spawnGroup("sh", ["-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"]);
  await firstLine(child.stdout);
  expect((await child.end(300)).signal).toBe("SIGKILL");
});

it("leaves no grandchild behind when the leader ends by itself", async () => {
  const child = await spawnGroup("sh", ["-c", "sleep 60 & echo $!"]);
  const grandchild = Number(await firstLine(child.stdout));
  expect((await child.exit).code).toBe(0);
  await expect.poll(() => processStart(grandchild), { timeout: 15_000 }).toBeNull();
});

it("says at once that a program is not there", async () => {
  await expect(spawnGroup("/no/such/program", [])).rejects.toThrow(/ENOENT/);
});

it("names who lives in a group, and nobody once it has ended", async () => {
  const child = await spawnGroup("sh", ["-c", "sleep 60 & echo $!; wait"]);
  const grandchild = Number(await firstLine(child.stdout));
  expect(groupMembers(child.pid).sort()).toEqual([child.pid, grandchild].sort());
  await child.end(15_000);
  await expect.poll(() => groupMembers(child.pid), { timeout: 15_000 }).toEqual([]);
});
