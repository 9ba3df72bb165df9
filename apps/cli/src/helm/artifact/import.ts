import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ExitCode } from "@helm/contracts";
import { HostClient, HostRequestError, MAPPER_FILE, sha256File, uploadArtifact } from "@helm/host";
import type { Context } from "../../context";
import { Failure } from "../../failure";
import { requireServer } from "../../server/client";
import { persevere, requireAddress } from "./transfer";

/** A console in between passes on bodies of 10 MB; an upload in parts of eight MiB suits any. */
const BODY_BYTES = 8 * 1024 ** 2;

/** Sends the file, where it is cut from there on, and has the server judge what its manifest says. */
export async function importMapper(context: Context, given: string): Promise<number> {
  const server = await requireServer(context.config);
  const file = await locate(given);
  const sha256 = await sha256File(file);
  const client = new HostClient({ ...(await requireAddress(context)), timeoutMs: 120_000 });
  try {
    const upload = { file, sha256, urlPath: `/api/artifacts/${sha256}`, bodyBytes: BODY_BYTES };
    await persevere(context, () => uploadArtifact(client, upload));
  } catch (error) {
    if (error instanceof HostRequestError)
      throw new Failure(1, error.code ?? "SERVER_UNREACHABLE", error.message, [], error.details);
    throw error;
  } finally {
    await client.close();
  }
  const imported = await server.mapper.import.mutate({ sha256 });
  context.screen.answer({ type: "imported", sha256, ...imported }, () => [
    `Imported for ${imported.pairName}: ${imported.verdict === "CLEARED" ? "it cleared the gate of this server" : "it is below this server's gate and kept with its score"}.`,
    `It is marked imported${imported.developmentOnly ? ", made on a CPU and so for development nodes only," : ""} and ${imported.state}.`,
    ...(imported.verdict === "CLEARED"
      ? [`An administrator activates it: lifeboat helm mapper activate ${imported.id}`]
      : []),
  ]);
  return imported.verdict === "CLEARED" ? ExitCode.cleared : ExitCode.belowGate;
}

/** The file, or the folder that a local calibration wrote it into. Errors: Failure 5. */
async function locate(given: string): Promise<string> {
  for (const place of [resolve(given), join(resolve(given), MAPPER_FILE)])
    if ((await stat(place).catch(() => null))?.isFile()) return place;
  throw new Failure(ExitCode.unreadable, "MAPPER_UNREADABLE", `There is no mapper's file at ${given}.`);
}
