import { randomUUID } from "node:crypto";
import { recordArtifact } from "../artifact/record-artifact";
import { writeAudit } from "../audit/write-audit";
import { appendEvents } from "../calibration/append-events";
import { finishCalibration } from "../calibration/finish";
import type { Context, Services } from "../context";
import { recorderHost } from "../host/recorder-host";
import { inTransaction, outsideTransaction } from "../transaction";
import { type RecordedRun, readRecordedRun } from "./recorded-run";

const RECORDER = "recorded run";
const BATCH = 200;

/** Gives a seeded pair what a real run wrote on the same weights: same events, same counts, same mapper; the verdict is
 * computed here and now. A pair that has any run of its own is left alone. */
export async function importRecordedRun(services: Services, scenario: string): Promise<"done" | "waiting"> {
  const run = await readRecordedRun(services.config.seedsDir, scenario);
  if (run) return importRun(services, scenario, run);
  services.log.warn({ scenario }, "no recorded run of this name");
  return "done";
}

async function importRun(
  services: Services,
  scenario: string,
  run: RecordedRun,
): Promise<"done" | "waiting"> {
  const pair = await services.db.pair.findFirst({
    where: { source: { name: run.source }, target: { name: run.target } },
    include: { source: true, target: true, _count: { select: { calibrations: true } } },
  });
  if (!pair) return "waiting";
  if (pair._count.calibrations > 0) return "done";
  const { source, target } = run.started.pair;
  if (
    source.weights_sha256 !== pair.source.weightsSha256 ||
    target.weights_sha256 !== pair.target.weightsSha256
  ) {
    services.log.warn({ scenario }, "the recorded run is of other weights; not imported");
    return "done";
  }
  const { sha256, bytes } = run.result.artifact;
  if ((await services.artifacts.size(sha256)) === null)
    await services.uploads.put(sha256, `seed-${randomUUID()}`, bytes, run.readMapper());
  const ctx = outsideTransaction({
    services,
    actor: { kind: "system", name: `seed ${scenario}` },
    requestId: randomUUID(),
    address: "local",
    log: services.log,
  });
  const id = await inTransaction(
    ctx,
    { audited: false, publish: true, timeoutMs: 300_000 },
    async (inner) => {
      return replay(inner, pair.id, run);
    },
  );
  if (id === null) return "done";
  services.log.info(
    { scenario, link: `${services.config.publicUrl}/calibrations/${id}` },
    "recorded run imported",
  );
  return "done";
}

/** The worker's own verbs, called by a worker that can never join again. */
async function replay(ctx: Context, pairId: string, run: RecordedRun): Promise<string | null> {
  // Another control plane may be at it too: the pair's row decides who imports.
  await ctx.db.$executeRaw`SELECT 1 FROM "pair" WHERE "id" = ${pairId}::uuid FOR NO KEY UPDATE`;
  if ((await ctx.db.calibration.count({ where: { pairId } })) > 0) return null;
  const { sha256, bytes } = run.result.artifact;
  await recordArtifact(ctx, sha256, bytes);
  const host = await recorderHost(ctx, { name: RECORDER, version: "recorded", device: run.device });
  const worker: Context = {
    ...ctx,
    actor: { kind: "host", hostKind: "worker", id: host.id, name: host.name, recorder: true },
  };
  const calibration = await ctx.db.calibration.create({
    data: {
      pairId,
      state: "RUNNING",
      attempt: 1,
      corpus: run.corpus,
      method: run.started.method,
      k: run.started.k,
      device: run.device,
      startedBy: host.name,
      startedAt: new Date(run.started.at),
    },
  });
  const attempt = await ctx.db.calibrationAttempt.create({
    data: {
      calibrationId: calibration.id,
      number: 1,
      workerId: host.id,
      leaseExpiresAt: new Date(),
      artifactSha256: run.result.artifact.sha256,
      startedAt: new Date(run.started.at),
    },
  });
  if (run.gate !== undefined) await ctx.db.pair.update({ where: { id: pairId }, data: { gate: run.gate } });
  await writeAudit(ctx, {
    verb: "calibration.import",
    entity: "calibration",
    entityId: calibration.id,
    after: { pairId, ...(run.gate !== undefined && { gate: run.gate }) },
  });
  for (let at = 0; at < run.events.length; at += BATCH) {
    const events = run.events.slice(at, at + BATCH).map((event, i) => ({ seq: at + i + 1, event }));
    await appendEvents({ ctx: worker, input: { job: calibration.id, attempt: attempt.id, events } });
  }
  const artifact_sha256 = run.result.artifact.sha256;
  await finishCalibration({
    ctx: worker,
    input: { id: calibration.id, attempt: attempt.id, outcome: "fitted", artifact_sha256 },
  });
  // The times are those of the run, not of its import: nobody is to take an old measurement for a new one.
  const times = { startedAt: new Date(run.started.at), finishedAt: new Date(run.result.at) };
  await ctx.db.calibration.update({
    where: { id: calibration.id },
    data: { ...times, createdAt: times.startedAt },
  });
  await ctx.db.calibrationAttempt.update({ where: { id: attempt.id }, data: times });
  const made = { where: { calibrationId: calibration.id }, data: { createdAt: times.finishedAt } };
  await ctx.db.score.updateMany(made);
  await ctx.db.mapper.updateMany(made);
  return calibration.id;
}
