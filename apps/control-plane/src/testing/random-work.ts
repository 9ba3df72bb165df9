import { randomBytes } from "node:crypto";
import { BUNDLED, facts, runEvents, sha256, type TestWorker } from "./worker";

interface AtWork {
  workers: TestWorker[];
  machine: string;
  random: () => number;
  one: <T>(list: readonly T[]) => T | undefined;
}

const TAKEN = { ...BUNDLED, small: facts("small"), large: facts("large") };

/** A worker that takes what there is and brings it to one of its ends, or leaves it lying. */
export async function workAtRandom({ workers, one, random, machine }: AtWork): Promise<void> {
  const worker = one(workers) as TestWorker;
  const { status, json: job } = await expectTaken(worker.claim({ machine, rooms: ["beside", "drain"] }));
  if (status !== 200) return;
  const { id = "", attempt = "", model = "" } = job;
  if (job.kind === "inspection") {
    const found = TAKEN[model as keyof typeof TAKEN];
    await expectTaken(worker.finish(id, { attempt, outcome: "inspected", facts: found }));
    return;
  }
  const end = random();
  if (end < 0.15) return;
  await expectTaken(worker.heartbeat(id, attempt));
  if (end < 0.3)
    await expectTaken(worker.finish(id, { attempt, outcome: "failed", code: "MACHINERY_FAILED" }));
  if (end < 0.3) return;
  const bytes = randomBytes(64);
  const asked = {
    source: job.source_model ?? "",
    target: job.target_model ?? "",
    method: job.method ?? "",
    k: 4,
  };
  await expectTaken(worker.events(id, attempt, runEvents(bytes, { asked, share: end < 0.5 ? 0.5 : 1 })));
  await expectTaken(worker.upload(id, attempt, bytes));
  await expectTaken(worker.finish(id, { attempt, outcome: "fitted", artifact_sha256: sha256(bytes) }));
}

async function expectTaken(answer: Promise<{ status: number; json: unknown }>) {
  const { status, json } = await answer;
  if (status >= 500) throw new Error(`a host was told ${status} ${JSON.stringify(json)}`);
  return { status, json: json as Record<string, string> };
}
