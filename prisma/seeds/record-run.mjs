// Records what a real calibration writes, as a seed scenario: what was asked for, the job's own output, its mapper.
// Usage: node prisma/seeds/record-run.mjs SCENARIO SOURCE TARGET [--device cpu] [--method NAME] [--gate VALUE] [--from FILE]
// --from FILE: a run that `npm run results:bundled` has kept, instead of a new one.
// --gate: a stricter gate that the scenario sets on its pair when it is imported.
// The verdict is no part of it: it is computed from the counts when the scenario is imported.
import { spawn } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../..");
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    device: { type: "string", default: "cpu" },
    method: { type: "string" },
    gate: { type: "string" },
    from: { type: "string" },
  },
});
const [scenario, source, target] = positionals;
if (!scenario || !source || !target) {
  console.error(
    "Usage: node prisma/seeds/record-run.mjs SCENARIO SOURCE TARGET [--device cpu] [--method NAME] [--gate VALUE] [--from FILE]",
  );
  process.exit(2);
}

const out = await mkdtemp(join(tmpdir(), "helm-record-"));
try {
  const lines = values.from ? await keptRun(values.from) : await runJob();
  const result = lines.map((line) => JSON.parse(line)).find((event) => event.type === "result");
  if (!result) throw new Error("The job ended without a result; its last line says why.");
  const folder = join(here, scenario);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await copyFile(resolve(out, result.artifact.path), join(folder, "mapper.safetensors"));
  await writeFile(join(folder, "events.jsonl.gz"), gzipSync(`${lines.join("\n")}\n`, { level: 9 }));
  const head = {
    source,
    target,
    corpus: "bundled",
    device: values.device,
    ...(values.gate && { gate: Number(values.gate) }),
  };
  await writeFile(join(folder, "run.json"), `${JSON.stringify(head, null, 2)}\n`);
  console.log(`Recorded ${lines.length} events and a mapper of ${result.artifact.bytes} bytes in ${folder}`);
} finally {
  await rm(out, { recursive: true, force: true });
}

/** The event lines of a kept run. Its mapper must still be there. */
async function keptRun(file) {
  const { events } = JSON.parse(await readFile(file, "utf8"));
  const result = events.findLast((event) => event.type === "result");
  await copyFile(result.artifact.path, join(out, "mapper.safetensors"));
  result.artifact.path = "mapper.safetensors";
  return events.map((event) => JSON.stringify(event).replaceAll(`${root}/`, ""));
}

/** The job's event lines, without paths of this machine in them. */
async function runJob() {
  const models = join(root, "models");
  const args = ["-m", "lifeboat_kv", "calibrate", "--source-model", join(models, source)];
  args.push("--target-model", join(models, target), "--corpus", join(root, "corpora", "bundled"));
  args.push("--device", values.device, "--out", out);
  if (values.method) args.push("--method", values.method);
  const job = spawn(join(root, "packages/kv/.venv/bin/python"), args, {
    cwd: out,
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, PYTHONPATH: join(root, "packages/kv/src") },
  });
  const lines = [];
  for await (const line of createInterface({ input: job.stdout })) {
    lines.push(line.replaceAll(out, ".").replaceAll(`${root}/`, ""));
    const event = JSON.parse(line);
    if (event.type === "progress") process.stderr.write(`\r${event.stage} ${event.percent.toFixed(0)} % `);
  }
  process.stderr.write("\n");
  return lines;
}
