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
  const lines = (await unzip(await readFile(join(folder, "events.jsonl.gz"))))
    .toString("utf8")
    .trim()
    .split("\n");
  const events = lines.map((line) => CalibrationEvent.parse(JSON.parse(line)));
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
