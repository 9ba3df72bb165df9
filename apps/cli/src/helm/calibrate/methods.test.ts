import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { METHODS } from "@helm/contracts";
import { locatePython } from "@helm/host";
import { DIAGNOSIS_THRESHOLDS } from "@helm/pairing";
import { beforeAll, expect, it } from "vitest";

const PRINT = `
import json
from lifeboat_kv.calibration.diagnosis import DIAGNOSIS_THRESHOLDS
from lifeboat_kv.methods import DEFAULT_METHOD, METHODS
print(json.dumps({"methods": {m.name: m.summary for m in METHODS.values()}, "default": DEFAULT_METHOD,
                  "diagnosis": DIAGNOSIS_THRESHOLDS}))
`;

let job: { methods: Record<string, string>; default: string; diagnosis: unknown };

beforeAll(async () => {
  const { python, source } = locatePython(process.env.HELM_PYTHON);
  const env = { ...process.env, PYTHONPATH: source };
  const { stdout } = await promisify(execFile)(python, ["-c", PRINT], { env });
  job = JSON.parse(stdout);
}, 120_000);

it("offers the job's own methods, all of them and no other, in the job's words", () => {
  expect(METHODS).toEqual(job.methods);
  expect(METHODS).toHaveProperty([job.default]);
});

it("takes for granted the thresholds that the job writes into its manifest", () => {
  expect(DIAGNOSIS_THRESHOLDS).toEqual(job.diagnosis);
});
