import { HelmError } from "@helm/contracts";

const MISSING = new Set(["NotFound", "NoSuchKey", "NoSuchUpload"]);
const FULL = new Set(["QuotaExceeded", "InsufficientStorage", "XMinioStorageFull", "EntityTooLarge"]);

interface SdkError {
  name?: string;
  message?: string;
  code?: string;
  $metadata?: { httpStatusCode?: number };
}

export function isMissing(error: unknown): boolean {
  const { name, $metadata } = error as SdkError;
  return MISSING.has(name ?? "") || ($metadata?.httpStatusCode === 404 && name !== "NoSuchBucket");
}

/** What the SDK threw, without its request and answer: those carry what no log should hold. */
export function toStoreError(error: unknown, place: string): HelmError {
  if (error instanceof HelmError) return error;
  const { name = "Error", message = "", code, $metadata } = error as SdkError;
  const status = $metadata?.httpStatusCode;
  const message_ = `${place}: ${code ?? name}${status ? ` (${status})` : ""} ${message}`.trim();
  if (FULL.has(name) || status === 507) {
    const sentence = `The store ${place} takes no more (${name}). Free some space there, or delete the files of retired mappers; the upload goes on by itself.`;
    return new HelmError(
      "STORAGE_FULL",
      sentence,
      { place, neededBytes: null, freeBytes: null },
      {
        message: message_,
      },
    );
  }
  const what =
    status === 403
      ? "refuses its credentials. Check HELM_S3_ACCESS_KEY_ID, HELM_S3_SECRET_ACCESS_KEY and what they may do"
      : name === "NoSuchBucket" || (status === 404 && name !== "NoSuchUpload")
        ? "does not exist. Create the bucket, or name another in HELM_S3_BUCKET"
        : "cannot be reached or failed. It is asked again";
  return new HelmError(
    "STORAGE_UNAVAILABLE",
    `The store ${place} ${what} (${code ?? name}).`,
    { place },
    {
      message: message_,
    },
  );
}
