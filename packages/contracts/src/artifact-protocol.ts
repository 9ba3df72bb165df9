import { z } from "zod";

/**
 * Uploads of an artifact by its digest, resumable, in the manner of the IETF's draft "Resumable Uploads for HTTP":
 *
 * HEAD  .../artifacts/:sha256   -> 204 with `upload-offset` (bytes that are here) and `upload-complete` (?1 once whole).
 *                                  An unfinished request of the same upload is ended first: who asks goes on.
 * PATCH .../artifacts/:sha256   with `upload-offset` (where this body begins) and `upload-length` (of the whole artifact)
 *                               -> 200 UploadDone once whole and verified, 204 with the new offset while it is not;
 *                                  409 UPLOAD_OFFSET {expectedOffset} where the body does not begin where we stopped.
 *
 * A worker's address is /api/worker/artifacts/:sha256?job=&attempt=, an administrator's /api/artifacts/:sha256.
 * GET and HEAD of /api/node/artifacts/:sha256 and /api/artifacts/:sha256/file send it back, with ranges and If-Range.
 */
export const UPLOAD_OFFSET = "upload-offset";
export const UPLOAD_LENGTH = "upload-length";
export const UPLOAD_COMPLETE = "upload-complete";
export const PARTIAL_UPLOAD = "application/partial-upload";

export const ARTIFACT_FILE = "mapper.safetensors";
export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, "is no sha256");

export const UploadDone = z.object({ sha256: Sha256, bytes: z.number().int() });
export type UploadDone = z.infer<typeof UploadDone>;

/** `details` of UPLOAD_OFFSET. */
export const OffsetDetails = z.object({ expectedOffset: z.number().int().min(0) });
