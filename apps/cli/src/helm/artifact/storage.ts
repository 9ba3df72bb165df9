import type { Context } from "../../context";
import { requireServer } from "../../server/client";
import { formatBytes, table } from "../../terminal/style";
import { findMapper } from "./find";

export async function mapperStorage({ config, screen }: Context): Promise<void> {
  const storage = await (await requireServer(config)).mapper.storage.query();
  const { stored, unreferenced, unfinished, missing, pairs, freeBytes, place } = storage;
  screen.answer({ type: "mapper-storage", ...storage }, () => [
    `${place}: ${stored.files} files, ${formatBytes(stored.bytes)}${freeBytes === null ? "" : `; ${formatBytes(freeBytes)} free`}`,
    ...table(
      ["pair", "files", "bytes", "of retired mappers"],
      pairs.map((pair) => [
        pair.pairName,
        String(pair.files),
        formatBytes(pair.bytes),
        formatBytes(pair.retiredBytes),
      ]),
      [1, 2, 3],
    ),
    `named by no mapper: ${unreferenced.files} files, ${formatBytes(unreferenced.bytes)}`,
    `unfinished uploads: ${unfinished.uploads}, ${formatBytes(unfinished.bytes)}`,
    ...(missing.length > 0 ? [`missing: ${missing.map((one) => one.slice(0, 12)).join(", ")}`] : []),
  ]);
}

export async function deleteMapperFile({ config, screen }: Context, given: string): Promise<void> {
  const server = await requireServer(config);
  const { id, revision } = await findMapper(server, given);
  const deleted = await server.mapper.deleteFile.mutate({ id, revision });
  screen.answer({ type: "file-deleted", ...deleted }, () => [
    `Deleted, ${formatBytes(deleted.freedBytes)} are free again. The mapper's row and its scores stay.`,
  ]);
}
