import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { askDoctor, askGuard, inspectModel } from "./python-verbs";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "python-verbs-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A stand-in for the interpreter: what the library would print, from a script. */
async function python(script: string) {
  const file = join(folder, "python");
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  return { python: file, source: folder };
}

it("gives up on a driver that never answers, and says where to look", async () => {
  const home = await python("sleep 60 & wait");
  await expect(askDoctor(home, 300)).rejects.toMatchObject({ code: "DOCTOR_HANGS", exitCode: 4 });
});

it("gives up on a model whose files never come, as askDoctor does on a driver", async () => {
  const home = await python("sleep 60 & wait");
  const failure = { code: "INSPECTION_HANGS", exitCode: 5 };
  await expect(inspectModel(home, folder, 300)).rejects.toMatchObject(failure);
});

it("passes on a GPU that could not be read, with its reason", async () => {
  const device = { vendor: "nvidia", name: "NVIDIA GPU", capability: null, problem: "NVML error 18: reboot" };
  const event = {
    v: 1,
    at: "now",
    type: "doctor",
    devices: [device],
    torch: "2",
    torch_problem: "reinstall",
  };
  const found = await askDoctor(await python(`echo '${JSON.stringify(event)}'`));
  expect(found).toMatchObject({ devices: [device], torch_problem: "reinstall" });
});

it("names the last line of a library that died", async () => {
  const home = await python("echo half a line; echo the reason >&2; exit 3");
  await expect(inspectModel(home, folder)).rejects.toMatchObject({ code: "PYTHON_DIED" });
});

it("asks what is free on a device, names our engines, and gives up on a driver that never answers", async () => {
  const device = {
    kind: "cpu",
    name: "this host",
    memory: null,
    utilisation: null,
    processes: null,
    problems: [],
  };
  const event = { v: 1, at: "now", type: "guard", device };
  const home = await python(`echo "$@" > ${folder}/asked; echo '${JSON.stringify(event)}'`);
  expect(await askGuard(home, "cpu", [7, 8])).toEqual(device);
  expect(await readFile(join(folder, "asked"), "utf8")).toBe(
    "-m lifeboat_kv guard --device cpu --pid 7 --pid 8\n",
  );
  const hangs = await python("sleep 60 & wait");
  await expect(askGuard(hangs, "cuda", [], 300)).rejects.toMatchObject({ code: "GUARD_HANGS" });
});
