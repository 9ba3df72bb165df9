import { pipeline } from "node:stream/promises";
import { HelmError } from "@helm/contracts";
import { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import { holdLease } from "../calibration/lease";
import type { Endpoint, EndpointCall } from "../http/endpoint";
import { sendJson } from "../http/respond";
import { inTransaction } from "../transaction";
import { parseRange } from "./range";

const step = { audited: false, publish: false };

/** Only the attempt that holds the run may upload, checked before the first byte and again before the row. */
async function upload({ req, res, ctx, params, url }: EndpointCall): Promise<void> {
  const sha256 = params.sha256 ?? "";
  const job = z.uuid().safeParse(url.searchParams.get("job"));
  const attempt = z.uuid().safeParse(url.searchParams.get("attempt"));
  if (!job.success || !attempt.success)
    throw new HelmError("BAD_REQUEST", "An upload names its job and attempt.");
  await inTransaction(ctx, step, (inner) => holdLease(inner, job.data, attempt.data));
  const { artifacts } = ctx.services;
  const there = await artifacts.size(sha256);
  const body = req as AsyncIterable<Buffer>;
  // Who names a digest that is here already proves all the same that it has the bytes.
  const bytes = there === null ? await artifacts.write(sha256, body) : await artifacts.check(sha256, body);
  await inTransaction(ctx, step, async (inner) => {
    await holdLease(inner, job.data, attempt.data);
    await inner.db.calibrationAttempt.update({
      where: { id: attempt.data },
      data: { artifactSha256: sha256 },
    });
    if (await inner.db.artifact.findUnique({ where: { sha256 } })) return;
    await inner.db.artifact.create({ data: { sha256, bytes } });
    await writeAudit(inner, {
      verb: "artifact.upload",
      entity: "calibration",
      entityId: job.data,
      after: { sha256, bytes },
    });
  });
  sendJson(res, 200, { sha256, bytes });
}

async function download({ req, res, ctx, params }: EndpointCall): Promise<void> {
  const sha256 = params.sha256 ?? "";
  const size = await ctx.services.artifacts.size(sha256);
  if (size === null) throw new HelmError("NOT_FOUND", "There is no such artifact.", { sha256 });
  res.setHeader("accept-ranges", "bytes");
  res.setHeader("etag", `"${sha256}"`);
  res.setHeader("content-type", "application/octet-stream");
  const range = parseRange(req.headers.range, size);
  if (range === "unsatisfiable") {
    res.writeHead(416, { "content-range": `bytes */${size}` }).end();
    return;
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  if (range) res.setHeader("content-range", `bytes ${start}-${end}/${size}`);
  res.writeHead(range ? 206 : 200, { "content-length": end - start + 1 });
  if (req.method === "HEAD") res.end();
  else await pipeline(ctx.services.artifacts.read(sha256, { start, end }), res);
}

export const artifactEndpoints: Endpoint[] = [
  { method: "PUT", path: "/api/worker/artifacts/:sha256", caller: "worker", upload: true, handle: upload },
  { method: "GET", path: "/api/node/artifacts/:sha256", caller: "node", handle: download },
];
