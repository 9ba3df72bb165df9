import { z } from "zod";
import type { Context } from "../context";

const Held = z.object({ files: z.number().int(), bytes: z.number().int() });

export const MapperStorageOut = z.object({
  kind: z.enum(["directory", "s3"]),
  /** The folder or bucket. */
  place: z.string(),
  /** Null where the store does not say. */
  freeBytes: z.number().int().nullable(),
  /** Every file once, however many mappers name it. */
  stored: Held,
  pairs: z.array(
    z.object({
      pairId: z.uuid(),
      pairName: z.string(),
      ...Held.shape,
      /** Of mappers that are retired: what deleting their files would free. */
      retiredBytes: z.number().int(),
    }),
  ),
  /** Files that no mapper names: of runs that failed after their upload, or whose row is gone. */
  unreferenced: Held.extend({ names: z.array(z.string()) }),
  /** Mappers whose file should be there and is not. */
  missing: z.array(z.string()),
  unfinished: z.object({ uploads: z.number().int(), bytes: z.number().int() }),
});

/** What the store really holds, beside what the rows say. */
export async function readMapperStorage(ctx: Context): Promise<z.infer<typeof MapperStorageOut>> {
  const { artifacts } = ctx.services;
  const [files, partials, freeBytes, mappers] = await Promise.all([
    artifacts.files(),
    artifacts.partials(),
    artifacts.freeBytes(),
    ctx.db.mapper.findMany({
      omit: { manifest: true },
      include: { artifact: true, pair: { include: { source: true, target: true } } },
    }),
  ]);
  const bytesOf = new Map(files.map(({ sha256, bytes }) => [sha256, bytes]));
  const named = new Set(mappers.map(({ sha256 }) => sha256));
  const unreferenced = files.filter(({ sha256 }) => !named.has(sha256));
  const pairs = new Map<string, typeof mappers>();
  for (const mapper of mappers) pairs.set(mapper.pairId, [...(pairs.get(mapper.pairId) ?? []), mapper]);
  return {
    kind: artifacts.kind,
    place: artifacts.place,
    freeBytes,
    stored: { files: files.length, bytes: sum(files.map(({ bytes }) => bytes)) },
    pairs: [...pairs].map(([pairId, own]) => {
      const digests = [...new Set(own.map(({ sha256 }) => sha256))].filter((one) => bytesOf.has(one));
      const kept = new Set(own.filter(({ state }) => state !== "RETIRED").map(({ sha256 }) => sha256));
      const pair = own[0]?.pair;
      return {
        pairId,
        pairName: `${pair?.source.name} -> ${pair?.target.name}`,
        files: digests.length,
        bytes: sum(digests.map((one) => bytesOf.get(one) ?? 0)),
        retiredBytes: sum(digests.filter((one) => !kept.has(one)).map((one) => bytesOf.get(one) ?? 0)),
      };
    }),
    unreferenced: {
      files: unreferenced.length,
      bytes: sum(unreferenced.map(({ bytes }) => bytes)),
      names: unreferenced.slice(0, 100).map(({ sha256 }) => sha256),
    },
    missing: [
      ...new Set(
        mappers
          .filter(({ sha256, artifact }) => artifact.deletedAt === null && !bytesOf.has(sha256))
          .map(({ sha256 }) => sha256),
      ),
    ],
    unfinished: { uploads: partials.length, bytes: sum(partials.map(({ bytes }) => bytes)) },
  };
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
