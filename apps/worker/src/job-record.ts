import { createHash } from "node:crypto";
import { mkdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { CalibrationEvent, FinishRequest } from "@helm/contracts";
import { Outbox, type OutboxLimits, writeFileAtomic } from "@helm/host";
import { z } from "zod";

/** What outlives the worker's own death of a job: who it was, how it ended, and what is still to be uploaded. */
const Record = z.object({
  job: z.string(),
  attempt: z.string(),
  finish: FinishRequest.nullable(),
  artifact: z.object({ sha256: z.string(), path: z.string() }).nullable(),
});

export interface JobRecord {
  job: string;
  attempt: string;
  finish: FinishRequest | null;
  artifact: { sha256: string; path: string } | null;
  outbox: Outbox<CalibrationEvent>;
}

const FILE = "job.json";

/** Errors: OutboxError and the like, where the disk takes nothing. */
export async function createRecord(
  directory: string,
  job: string,
  attempt: string,
  limits?: OutboxLimits,
): Promise<JobRecord> {
  const name = createHash("sha256").update(`${job}|${attempt}`).digest("hex").slice(0, 32);
  const outbox = await Outbox.open(directory, name, (value) => CalibrationEvent.parse(value), limits);
  const record: JobRecord = { job, attempt, finish: null, artifact: null, outbox };
  await saveRecord(record);
  return record;
}

export async function saveRecord(record: JobRecord): Promise<void> {
  const { job, attempt, finish, artifact } = record;
  await record.outbox.flush();
  await writeFileAtomic(join(record.outbox.folder, FILE), JSON.stringify({ job, attempt, finish, artifact }));
}

/**
 * Jobs of an earlier life of this worker. One that had not ended ends now: its process is gone. What cannot be understood
 * is moved aside to `<directory>-unreadable`, and told, so that it keeps no worker from starting.
 */
export async function leftRecords(
  directory: string,
  tell: (name: string) => void = () => {},
): Promise<JobRecord[]> {
  const found: JobRecord[] = [];
  for (const name of await Outbox.left(directory)) {
    const outbox = await Outbox.open(directory, name, (value) => CalibrationEvent.parse(value));
    const parsed = Record.safeParse(
      await readFile(join(outbox.folder, FILE), "utf8")
        .then(JSON.parse)
        .catch(() => null),
    );
    if (!parsed.success) {
      await outbox.close();
      await mkdir(`${directory}-unreadable`, { recursive: true, mode: 0o700 });
      await rename(outbox.folder, join(`${directory}-unreadable`, `${name}-${Date.now()}`));
      tell(name);
      continue;
    }
    found.push({ ...parsed.data, finish: parsed.data.finish ?? restarted(parsed.data.attempt), outbox });
  }
  return found;
}

function restarted(attempt: string): FinishRequest {
  const message = "The worker was restarted while the run was on. Start it again.";
  return { attempt, outcome: "failed", code: "WORKER_RESTARTED", message, exit_code: 1 };
}
