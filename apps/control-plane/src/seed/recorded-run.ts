import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { CalibrationEvent } from "@helm/contracts";
import { z } from "zod";

const unzip = promisify(gunzip);

/** The head of a recorded run: what was asked for. Beside it lie the job's own output and the mapper it wrote. */
const Head = z.object({
  source: z.string(),
  target: z.string(),
  corpus: z.string(),
  device: z.enum(["cuda", "rocm", "cpu"]),
  /** A stricter gate that the scenario sets on its pair; without it the server's gate holds. */
  gate: z.number().gt(0).max(1).optional(),
});

export interface RecordedRun extends z.infer<typeof Head> {
  started: Extract<CalibrationEvent, { type: "started" }>;
  result: Extract<CalibrationEvent, { type: "result" }>;
  events: CalibrationEvent[];
  readMapper: () => Readable;
}

/** Null where no such run was recorded. Errors: a record that is not whole. */
export async function readRecordedRun(seedsDir: string, scenario: string): Promise<RecordedRun | null> {
  const folder = join(seedsDir, scenario);
  const head = await readFile(join(folder, "run.json"), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (head === null) return null;
  const printed = await readEvents(join(folder, "events.jsonl.gz"));
  const events = await withAnswers(printed, join(folder, "judge-rows.jsonl.gz"));
  const started = events.find((event) => event.type === "started");
  const result = events.find((event) => event.type === "result");
  if (!started || !result) throw new Error(`the recorded run ${scenario} has no start or no result`);
  return {
    ...Head.parse(JSON.parse(head)),
    started,
    result,
    events,
    readMapper: () => createReadStream(join(folder, "mapper.safetensors")),
  };
}

async function readEvents(file: string): Promise<CalibrationEvent[]> {
  const text = (await unzip(await readFile(file))).toString("utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => CalibrationEvent.parse(JSON.parse(line)));
}

/**
 * A run that was recorded before calibrations let their models answer the probes for a judge may have those answers beside
 * it: of the same models to the same probes, collected afterwards by the verb judge-rows.
 */
async function withAnswers(printed: CalibrationEvent[], file: string): Promise<CalibrationEvent[]> {
  if (printed.some(({ type }) => type === "judge_rows")) return printed;
  const answers = await readEvents(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const end = printed.findIndex(({ type }) => type === "result");
  return [...printed.slice(0, end), ...answers, ...printed.slice(end)];
}
