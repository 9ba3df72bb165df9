import type { Db } from "@helm/db";
import { hashSecret, randomSecret } from "../access/secret";
import { request } from "../testing/request";
import { quantile } from "./figures";

export interface WorkersResult {
  workers: number;
  seconds: number;
  claims: number;
  least: number;
  most: number;
  median: number;
  /** Runs claimed by two: must be none. */
  twice: number;
  /** Answers that said "not now" (503), after which a worker asks again. */
  busy: number;
  claimMs: { p50: number; p95: number };
}

/**
 * Many workers take runs as fast as they can, from two control planes by turns, each giving its run back at once as
 * failed. The queue is kept filled, so whoever waits does so for want of fairness.
 */
export async function measureWorkers(
  db: Db,
  urls: string[],
  { workers, seconds }: { workers: number; seconds: number },
): Promise<WorkersResult> {
  const pairs = await db.pair.findMany({
    where: { control: false, calibrations: { none: { state: { in: ["QUEUED", "RUNNING"] } } } },
    take: 300,
    include: { source: true, target: true },
  });
  const models = [...new Set(pairs.flatMap((pair) => [pair.source.name, pair.target.name]))];
  await refill(
    db,
    pairs.map((pair) => pair.id),
  );
  const hosts = await Promise.all(
    Array.from({ length: workers }, async (_, i) => {
      const credential = randomSecret();
      await db.host.create({
        data: {
          kind: "worker",
          name: `bench-${i}`,
          credentialHash: hashSecret(credential),
          version: "0.1.0",
          device: "cpu",
          hardware: "none",
          devices: [],
        },
      });
      return { credential, claims: 0 };
    }),
  );
  const seen = new Map<string, number>();
  const times: number[] = [];
  let twice = 0;
  const until = Date.now() + seconds * 1000;
  let busy = 0;
  const post = async (url: string, path: string, json: unknown, bearer: string) => {
    for (;;) {
      const answer = await request(url, "POST", `/api/worker/${path}`, { json, bearer });
      if (answer.status !== 503) return answer;
      busy += 1;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const one = async (host: (typeof hosts)[number], i: number) => {
    for (let turn = i; Date.now() < until; turn += 1) {
      const url = urls[turn % urls.length] ?? "";
      const from = performance.now();
      const claimed = await post(url, "claim", { models, devices: ["cpu"] }, host.credential);
      times.push(performance.now() - from);
      if (claimed.status === 204) continue;
      if (claimed.status !== 200) throw new Error(`claim: ${claimed.status} ${JSON.stringify(claimed.json)}`);
      host.claims += 1;
      const attempts = (seen.get(claimed.json.attempt) ?? 0) + 1;
      seen.set(claimed.json.attempt, attempts);
      if (attempts > 1) twice += 1;
      const end = {
        attempt: claimed.json.attempt,
        outcome: "failed",
        code: "BENCH",
        message: "of the bench",
      };
      const finished = await post(url, `jobs/${claimed.json.id}/finish`, end, host.credential);
      if (finished.status !== 200)
        throw new Error(`finish: ${finished.status} ${JSON.stringify(finished.json)}`);
    }
  };
  const filling = setInterval(
    () =>
      void refill(
        db,
        pairs.map((pair) => pair.id),
      ).catch(() => {}),
    200,
  );
  try {
    await Promise.all(hosts.map(one));
  } finally {
    clearInterval(filling);
  }
  const counts = hosts.map((host) => host.claims);
  return {
    workers,
    seconds,
    claims: counts.reduce((sum, n) => sum + n, 0),
    least: Math.min(...counts),
    most: Math.max(...counts),
    median: quantile(counts, 0.5),
    twice,
    busy,
    claimMs: { p50: quantile(times, 0.5), p95: quantile(times, 0.95) },
  };
}

async function refill(db: Db, pairs: string[]): Promise<void> {
  await db.$executeRaw`
    INSERT INTO calibration (id, pair_id, state, method, k, device, corpus, options, started_by)
    SELECT uuidv7(), p, 'QUEUED', 'ridge', 4, 'cpu', 'bundled', '{}', 'bench' FROM unnest(${pairs}::uuid[]) p
    ON CONFLICT DO NOTHING`;
}
