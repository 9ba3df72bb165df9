import { HelmError } from "@helm/contracts";
import { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import { holdLease } from "../calibration/lease";
import type { Context } from "../context";
import type { EndpointCall } from "../http/endpoint";
import { sendJson } from "../http/respond";
import { inTransaction } from "../transaction";
import { recordArtifact } from "./record-artifact";
import { requireSha256 } from "./store";
import { readUploadHeaders, setUploadHeaders } from "./upload-headers";

const step = { audited: false, publish: false };
const STORAGE = new Set(["STORAGE_FULL", "STORAGE_UNAVAILABLE"]);

interface Named {
  sha256: string;
  job: string;
  attempt: string;
}

function named({ params, url }: EndpointCall): Named {
  const job = z.uuid().safeParse(url.searchParams.get("job"));
  const attempt = z.uuid().safeParse(url.searchParams.get("attempt"));
  if (!job.success || !attempt.success)
    throw new HelmError("BAD_REQUEST", "An upload names its job and attempt.");
  return { sha256: requireSha256(params.sha256 ?? ""), job: job.data, attempt: attempt.data };
}

/** Only the attempt that holds the run learns where to go on. */
export async function workerUploadOffset(call: EndpointCall): Promise<void> {
  const { ctx, res } = call;
  const { sha256, job, attempt } = named(call);
  const held = await inTransaction(ctx, step, (inner) => holdLease(inner, job, attempt));
  const { artifacts, uploads } = ctx.services;
  const bytes = held.attempt.artifactSha256 === sha256 ? await artifacts.size(sha256) : null;
  const offset = bytes ?? (await uploads.offset({ sha256, owner: attempt }));
  setUploadHeaders(res, offset, bytes !== null);
  res.writeHead(204).end();
}

/** The lease is proven before the first byte and again before the row; between them the bytes belong to the attempt alone. */
export async function workerUpload(call: EndpointCall): Promise<void> {
  const { ctx, req, res } = call;
  const { sha256, job, attempt } = named(call);
  const { offset, length } = readUploadHeaders(req);
  await inTransaction(ctx, step, (inner) => holdLease(inner, job, attempt));
  const appended = await ctx.services.uploads
    .append({ sha256, owner: attempt }, offset, length, req)
    .catch((error: unknown) => sayWhy(ctx, job, attempt, error));
  setUploadHeaders(res, appended.offset, appended.whole);
  if (!appended.whole) {
    res.writeHead(204).end();
    return;
  }
  await inTransaction(ctx, step, async (inner) => {
    const { calibration } = await holdLease(inner, job, attempt);
    await inner.db.calibrationAttempt.update({ where: { id: attempt }, data: { artifactSha256: sha256 } });
    if (calibration.waitingReason !== null)
      await inner.db.calibration.update({ where: { id: job }, data: { waitingReason: null } });
    if (!(await recordArtifact(inner, sha256, length))) return;
    await writeAudit(inner, {
      verb: "artifact.upload",
      entity: "calibration",
      entityId: job,
      after: { sha256, bytes: length },
    });
  });
  sendJson(res, 200, { sha256, bytes: length });
}

/** A store that takes nothing does not end the run: its worker keeps the mapper and asks again, and the page says why. */
async function sayWhy(ctx: Context, job: string, attempt: string, error: unknown): Promise<never> {
  if (error instanceof HelmError && STORAGE.has(error.code)) {
    await inTransaction(ctx, step, async (inner) => {
      const { calibration } = await holdLease(inner, job, attempt);
      const waitingReason = `The mapper is fitted and waits on its worker to be stored. ${error.userMessage}`;
      if (calibration.waitingReason === waitingReason) return;
      await inner.db.calibration.update({ where: { id: job }, data: { waitingReason } });
      inner.afterCommit(() => inner.services.hub.hint("calibrations"));
    }).catch((fault: unknown) => ctx.log.warn({ err: fault }, "the reason could not be shown on the run"));
  }
  throw error;
}
