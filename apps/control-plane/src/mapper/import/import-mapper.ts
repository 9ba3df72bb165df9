import { randomUUID } from "node:crypto";
import { HelmError, MapperState, Sha256, Verdict } from "@helm/contracts";
import { z } from "zod";
import { actorName } from "../../access/actor";
import { writeAudit } from "../../audit/write-audit";
import { appendEvents } from "../../calibration/append-events";
import { finishCalibration } from "../../calibration/finish";
import { requireNoOpenRun } from "../../calibration/start";
import type { Call, Context } from "../../context";
import { recorderHost } from "../../host/recorder-host";
import { type Candidate, examine } from "./examine";
import { refused } from "./refused";
import { toEvents } from "./to-events";

export const ImportMapperInput = z.object({ sha256: Sha256 });
export const ImportMapperOutput = z.object({
  id: z.uuid(),
  pairId: z.uuid(),
  pairName: z.string(),
  calibrationId: z.uuid(),
  state: MapperState,
  verdict: Verdict,
  developmentOnly: z.boolean(),
});

const HOST = "imported run";
/** Of events, with 200 rows of counts each at most. */
const BATCH = 20;

/**
 * Records a run that was calibrated on a host without this server, from its uploaded mapper. Its counts are that host's
 * word, taken on an administrator's; the verdict is computed here, as for any run, and nothing of it becomes active by itself.
 * Errors: IMPORT_REFUSED with every cause, CALIBRATION_RUNNING, CONFLICT where it is here already.
 */
export async function importMapper({ ctx, input }: Call<z.infer<typeof ImportMapperInput>>) {
  const candidate = await examine(ctx, input.sha256);
  const { pair, manifest } = candidate;
  await requireNoOpenRun(ctx, pair.id);
  await requireKept(ctx, input.sha256);
  const known = await ctx.db.mapper.findFirst({ where: { sha256: input.sha256, pairId: pair.id } });
  if (known) {
    const sentence = `This mapper is here already: it is ${known.state} for ${pair.name}.`;
    throw new HelmError("CONFLICT", sentence, { mapperId: known.id, state: known.state });
  }
  const run = await openRun(ctx, candidate, input.sha256);
  const artifact = { sha256: input.sha256, bytes: candidate.bytes };
  const events = toEvents(manifest, artifact, new Date().toISOString());
  for (let at = 0; at < events.length; at += BATCH)
    await appendEvents({
      ctx: run.ctx,
      input: {
        job: run.id,
        attempt: run.attempt,
        events: events.slice(at, at + BATCH).map((event, i) => ({ seq: at + i + 1, event })),
      },
    });
  await finishCalibration({
    ctx: run.ctx,
    input: { id: run.id, attempt: run.attempt, outcome: "fitted", artifact_sha256: input.sha256 },
  });
  const after = await ctx.db.calibration.findUniqueOrThrow({
    where: { id: run.id },
    include: { mapper: true },
  });
  if (!after.mapper) throw refused([after.errorMessage ?? "Its counts allow no verdict."], after.errorCode);
  const { id, state, verdict, developmentOnly } = after.mapper;
  await writeAudit(ctx, {
    verb: "mapper.import",
    entity: "mapper",
    entityId: id,
    after: { pair: pair.name, sha256: input.sha256, calibrationId: run.id, state, verdict, developmentOnly },
  });
  return {
    id,
    pairId: pair.id,
    pairName: pair.name,
    calibrationId: run.id,
    state,
    verdict,
    developmentOnly,
  };
}

/** Bytes that were read may be on their way out: somebody deleted them, and a store takes its time. */
async function requireKept(ctx: Context, sha256: string): Promise<void> {
  await ctx.db.$executeRaw`SELECT 1 FROM "artifact" WHERE "sha256" = ${sha256} FOR UPDATE`;
  const row = await ctx.db.artifact.findUnique({ where: { sha256 } });
  if (row?.deletedAt) throw refused(["Its file was deleted: upload it again first."]);
}

/** A run that nobody else can touch: its host can never join, and its rows commit only once it has ended. */
async function openRun(ctx: Context, { pair, manifest }: Candidate, sha256: string) {
  const { device } = manifest;
  const host = await recorderHost(ctx, { name: `${HOST} (${device})`, version: "imported", device });
  const calibration = await ctx.db.calibration.create({
    data: {
      pairId: pair.id,
      state: "RUNNING",
      attempt: 1,
      corpus: manifest.corpus.name,
      method: manifest.method,
      k: manifest.k,
      device: manifest.device,
      startedBy: actorName(ctx.actor),
      startedAt: new Date(),
      imported: true,
    },
  });
  const attempt = await ctx.db.calibrationAttempt.create({
    data: {
      id: randomUUID(),
      calibrationId: calibration.id,
      number: 1,
      workerId: host.id,
      leaseExpiresAt: new Date(),
      artifactSha256: sha256,
    },
  });
  const actor = { kind: "host", hostKind: "worker", id: host.id, name: host.name, recorder: true } as const;
  return { id: calibration.id, attempt: attempt.id, ctx: { ...ctx, actor } };
}
