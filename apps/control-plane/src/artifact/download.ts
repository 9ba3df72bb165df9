import { pipeline } from "node:stream/promises";
import { HelmError } from "@helm/contracts";
import type { EndpointCall } from "../http/endpoint";
import { parseRange } from "./range";

/** The bytes under a digest never change, so the digest is a strong validator and If-Range holds or the digest is another. */
export async function download({ req, res, ctx, params }: EndpointCall): Promise<void> {
  const sha256 = params.sha256 ?? "";
  const { artifacts } = ctx.services;
  const size = await artifacts.size(sha256);
  if (size === null) throw await whyGone(ctx.services.db, sha256);
  const etag = `"${sha256}"`;
  res.setHeader("accept-ranges", "bytes");
  res.setHeader("etag", etag);
  res.setHeader("content-type", "application/octet-stream");
  const condition = req.headers["if-range"];
  const applies = condition === undefined || condition === etag;
  const range = applies ? parseRange(req.headers.range, size) : null;
  if (range === "unsatisfiable") {
    res.writeHead(416, { "content-range": `bytes */${size}` }).end();
    return;
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  if (range) res.setHeader("content-range", `bytes ${start}-${end}/${size}`);
  if (req.method === "HEAD") {
    res.writeHead(range ? 206 : 200, { "content-length": end - start + 1 }).end();
    return;
  }
  // Opened before the head goes out: a store that fails is an answer then, not a body that breaks.
  const body = await artifacts.read(sha256, { start, end });
  res.writeHead(range ? 206 : 200, { "content-length": end - start + 1 });
  await pipeline(body, res);
}

async function whyGone(db: EndpointCall["ctx"]["services"]["db"], sha256: string): Promise<HelmError> {
  const row = await db.artifact.findUnique({ where: { sha256 } });
  const sentence = row?.deletedAt
    ? `The file of this mapper was deleted on ${row.deletedAt.toISOString().slice(0, 10)}; its scores are kept. Calibrate again to make another.`
    : "There is no such artifact.";
  return new HelmError("NOT_FOUND", sentence, { sha256 });
}
