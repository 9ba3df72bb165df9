import type { Context } from "../../context";
import { requireServer } from "../../server/client";
import { formatBytes, table } from "../../terminal/style";
import { wholeOf } from "../given";
import type { Mapper } from "../mapper-pages";
import { findMapper, findPairNamed } from "./find";

const MOST = 200;

/** Newest first, a page at a time: the list's end says how it goes on. */
export async function listMappers(
  { config, screen }: Context,
  { pair, limit, after }: { pair?: string; limit?: string; after?: string },
): Promise<void> {
  const most = Math.min(MOST, Math.max(1, wholeOf(limit ?? "50")));
  const server = await requireServer(config);
  const found = await findPairNamed(server, pair);
  const cursor = after === undefined ? undefined : (await findMapper(server, after)).id;
  const { rows, nextCursor } = await server.mapper.list.query({ pairId: found?.id, limit: most, cursor });
  screen.answer({ type: "mappers", mappers: rows, nextCursor }, () => {
    if (rows.length === 0)
      return [cursor ? "There are no older ones." : "No mapper yet. A calibration writes one."];
    return [
      ...table(
        ["mapper", "pair", "state", "verdict", "retention", "size", "written (UTC)", ""],
        rows.map(row),
        [4, 5],
      ),
      ...(nextCursor ? [`There are more: --after ${nextCursor}.`] : []),
    ];
  });
}

function row(mapper: Mapper): string[] {
  return [
    mapper.sha256.slice(0, 12),
    mapper.pairName,
    mapper.state,
    mapper.verdict,
    mapper.score ? mapper.score.retention.value.toFixed(3) : "-",
    formatBytes(mapper.bytes),
    mapper.createdAt.toISOString().slice(0, 16).replace("T", " "),
    mapper.developmentOnly ? "development" : "",
  ];
}

export async function showMapper({ config, screen }: Context, given: string): Promise<void> {
  const mapper = await findMapper(await requireServer(config), given);
  screen.answer({ type: "mapper", mapper }, () => [
    `${mapper.pairName}  ${mapper.state}${mapper.developmentOnly ? ", on development nodes only" : ""}`,
    `  id         ${mapper.id}`,
    `  sha256     ${mapper.sha256}`,
    `  size       ${formatBytes(mapper.bytes)}`,
    `  verdict    ${mapper.verdict}`,
    ...(mapper.score
      ? [
          `  retention  ${mapper.score.retention.value.toFixed(3)} (${mapper.score.retention.low.toFixed(3)} to ${mapper.score.retention.high.toFixed(3)}), gate ${mapper.score.gate}`,
        ]
      : []),
    `  run        ${mapper.calibrationId}`,
    ...mapper.warnings.map((warning) => `  warning    ${warning}`),
  ]);
}

export async function activateMapper(context: Context, given: string): Promise<void> {
  const server = await requireServer(context.config);
  const { id, revision } = await findMapper(server, given);
  told(context, await server.mapper.activate.mutate({ id, revision }));
}

export async function retireMapper(context: Context, given: string): Promise<void> {
  const server = await requireServer(context.config);
  const { id, revision } = await findMapper(server, given);
  told(context, await server.mapper.retire.mutate({ id, revision }));
}

function told({ screen }: Context, result: { id: string; state: string; pairStatus: string }): void {
  screen.answer({ type: "mapper", ...result }, () => [
    `The mapper is ${result.state}; the pair is ${result.pairStatus}.`,
  ]);
}
