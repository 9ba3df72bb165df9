import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { METHODS } from "@helm/contracts";
import { locatePython } from "@helm/host";
import { expect, it } from "vitest";

const PRINT = `
import json
from lifeboat_kv.methods import DEFAULT_METHOD, METHODS
print(json.dumps({"methods": {m.name: m.summary for m in METHODS.values()}, "default": DEFAULT_METHOD}))
`;

it("offers the job's own methods, all of them and no other", async () => {
  const { python, source } = locatePython(process.env.HELM_PYTHON);
  const env = { ...process.env, PYTHONPATH: source };
  const { stdout } = await promisify(execFile)(python, ["-c", PRINT], { env });
  const job = JSON.parse(stdout) as { methods: Record<string, string>; default: string };
  expect(METHODS).toEqual(job.methods);
  expect(METHODS).toHaveProperty([job.default]);
});
