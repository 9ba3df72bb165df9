import { resolve } from "node:path";
import { ArtifactMismatch, DiskFull, downloadFile, HostClient, HostRequestError } from "@helm/host";
import type { Context } from "../../context";
import { Failure } from "../../failure";
import { requireServer } from "../../server/client";
import { formatBytes } from "../../terminal/style";
import { findMapper } from "./find";
import { persevere, requireAddress } from "./transfer";

/** Writes the file once its digest holds. What a cut left beside it as `.part` is gone on with. */
export async function exportMapper(context: Context, given: string, out: string | undefined): Promise<void> {
  const mapper = await findMapper(await requireServer(context.config), given);
  const { sha256, bytes, pairName } = mapper;
  const file = resolve(out ?? `${sha256.slice(0, 12)}.safetensors`);
  const client = new HostClient(await requireAddress(context));
  try {
    await persevere(context, () =>
      downloadFile(client, { urlPath: `/api/artifacts/${sha256}/file`, sha256, file, expectedBytes: bytes }),
    );
  } catch (error) {
    throw told(error);
  } finally {
    await client.close();
  }
  context.screen.answer({ type: "exported", sha256, bytes, file, pair: pairName }, () => [
    `Wrote ${file}, ${formatBytes(bytes)}, the mapper of ${pairName}; its digest holds.`,
  ]);
}

function told(error: unknown): unknown {
  if (error instanceof ArtifactMismatch) return new Failure(1, "ARTIFACT_MISMATCH", error.message);
  if (error instanceof DiskFull) return new Failure(6, "DISK_FULL", error.message);
  if (error instanceof HostRequestError)
    return new Failure(1, error.code ?? "SERVER_UNREACHABLE", error.message);
  return error;
}
