import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { locatePython, type PythonHome, pythonEnvironment, runPython } from "./python";
import { temporaryFolder } from "./testing";

/** A library of one line under the real interpreter. */
async function smallLibrary(): Promise<PythonHome & { library: string }> {
  const source = await temporaryFolder();
  const library = join(source, "lifeboat_kv");
  await mkdir(library);
  await writeFile(join(library, "__init__.py"), "");
  await writeFile(join(library, "part.py"), "word = 'done'\n");
  await writeFile(
    join(library, "__main__.py"),
    "from .part import word\nprint('{\"said\": \"' + word + '\"}')\n",
  );
  return { ...locatePython(process.env.HELM_PYTHON), source, library };
}

it("keeps what Python compiles, also where whoever started Helm keeps nothing", async () => {
  const { library, ...home } = await smallLibrary();
  expect(pythonEnvironment(home, { PYTHONDONTWRITEBYTECODE: "1" })).not.toHaveProperty(
    "PYTHONDONTWRITEBYTECODE",
  );
  const said: unknown[] = [];
  const run = await runPython(home, [], {
    onEvent: (event) => said.push(event),
    onNoise: () => {},
    onLog: () => {},
  });
  expect(await run.done).toEqual({ code: 0, signal: null });
  expect(said).toEqual([{ said: "done" }]);
  const compiled = await readdir(join(library, "__pycache__"));
  expect(compiled.some((file) => file.startsWith("part."))).toBe(true);
});
