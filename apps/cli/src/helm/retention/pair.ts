import type { Context } from "../../context";
import { requireServer, type Server } from "../../server/client";
import { formatBytes, printable, table, wrap } from "../../terminal/style";
import { comparisonLines } from "../comparison";
import type { Mapper } from "../mapper-pages";
import { findPair, type Pair } from "./find";

export async function showPair(
  { config, screen }: Context,
  source: string,
  target: string,
  { compare = false, most = 5 }: { compare?: boolean; most?: number } = {},
): Promise<void> {
  const server = await requireServer(config);
  const pair = await findPair(server, source, target);
  const [{ rows: mappers, nextCursor }, { rows: runs }] = await Promise.all([
    server.mapper.list.query({ pairId: pair.id, limit: 25 }),
    server.calibration.list.query({ pairId: pair.id, limit: 25 }),
  ]);
  const comparisons = compare ? await compareRuns(server, pair, runs, most) : [];
  const answer = compare ? { type: "comparisons", comparisons } : { type: "pair", pair, mappers, runs };
  screen.answer(answer, () =>
    compare
      ? comparisons.length === 0
        ? ["Fewer than two runs of this pair have a score."]
        : comparisons.flatMap(({ second, comparison }) => [
            "",
            `Run ${second}`,
            ...comparisonLines(comparison),
          ])
      : [
          ...headLines(pair, screen.width),
          "",
          ...mapperLines(mappers, nextCursor !== null, pair),
          "",
          ...runLines(runs),
        ],
  );
}

type Runs = Awaited<ReturnType<Server["calibration"]["list"]["query"]>>["rows"];

async function compareRuns(server: Server, pair: Pair, runs: Runs, most: number) {
  const scored = runs.filter(({ score }) => score !== null);
  const first = scored.find(({ id }) => id === pair.active?.calibrationId)?.id ?? scored[0]?.id;
  if (!first) return [];
  const others = scored.filter(({ id }) => id !== first).slice(0, most);
  return Promise.all(
    others.map(async ({ id }) => ({
      first,
      second: id,
      comparison: await server.calibration.compare.query({ first, second: id }),
    })),
  );
}

function headLines(pair: Pair, width: number): string[] {
  const score = pair.active ?? pair.lastScore;
  const marks = [pair.control ? "control" : "", pair.developmentOnly ? "development" : ""].filter(Boolean);
  const own = pair.ownGate === null ? "" : `, its own (the server's is ${pair.serverGate})`;
  return [
    `${pair.source.id} -> ${pair.target.id}  ${pair.status}${pair.calibrating ? ", CALIBRATING" : ""}${marks.length > 0 ? `  ${marks.join(", ")}` : ""}`,
    `  family ${pair.family ?? "none"}, gate ${pair.gate}${own}, ${pair.attempts} runs`,
    ...(score ? wrap(score.sentence, width - 2, "  ") : ["  Never measured, so never used."]),
    ...(pair.active &&
    pair.lastScore?.verdict === "BELOW_GATE" &&
    pair.lastScore.calibrationId !== pair.active.calibrationId
      ? ["  The last run was below the gate; the mapper of an earlier one stays active."]
      : []),
  ];
}

function mapperLines(mappers: Mapper[], more: boolean, { source, target }: Pair): string[] {
  if (mappers.length === 0) return ["No mapper yet."];
  const rows = mappers.map((one) => [
    one.sha256.slice(0, 12),
    one.state,
    one.score ? one.score.retention.value.toFixed(3) : "-",
    formatBytes(one.bytes),
  ]);
  return [
    ...table(["mapper", "state", "retention", "size"], rows, [2, 3]),
    ...(more ? [`Older ones: lifeboat helm mapper list --pair ${source.id}:${target.id}`] : []),
  ];
}

function runLines(runs: Runs): string[] {
  if (runs.length === 0) return ["No run yet."];
  const rows = runs.map((run) => [
    run.id,
    run.state,
    run.verdict ?? "-",
    run.score ? run.score.retention.value.toFixed(3) : "-",
    `${run.method}, k ${run.k}`,
    run.createdAt.toISOString().slice(0, 16).replace("T", " "),
  ]);
  return table(["run", "state", "verdict", "retention", "method", "created (UTC)"], rows, [3]);
}

export async function listRefused({ config, screen }: Context): Promise<void> {
  const { rows } = await (await requireServer(config)).pair.registrations.query({ limit: 100 });
  screen.answer({ type: "registrations", registrations: rows }, () =>
    rows.length === 0
      ? ["None: every pair that was asked for could be registered."]
      : rows.flatMap((row) => [
          `${row.sourceModel} -> ${row.targetModel}  ${row.state}  by ${row.requestedBy}, ${row.createdAt.toISOString().slice(0, 16).replace("T", " ")} UTC`,
          ...row.causes.map(({ cause, sentence }) => printable(`  ${cause}: ${sentence}`)),
          ...(row.causes.length === 0 && row.message ? [printable(`  ${row.message}`)] : []),
        ]),
  );
}

export async function pairStorage({ config, screen }: Context): Promise<void> {
  const storage = await (await requireServer(config)).pair.storage.query();
  screen.answer({ type: "storage", ...storage }, () => {
    const { models, directions, all, held, activeBytes } = storage;
    const rows = directions.map((one) => [
      `${one.source} -> ${one.target}`,
      one.bytes === null ? "-" : formatBytes(one.bytes),
      one.basis,
      one.held.mappers > 0 ? `${formatBytes(one.held.bytes)} in ${one.held.mappers}` : "-",
    ]);
    const n = models.length;
    return [
      `${held.mappers} mappers take ${formatBytes(held.bytes)} now, the active ones ${formatBytes(activeBytes)}.`,
      `${n} models have ${n * (n - 1)} directions, ${all.impossible} of them impossible; one mapper for each of the others would take ${formatBytes(all.bytes)} (${all.measured} measured, ${all.computed} computed).`,
      "",
      ...table(["direction", "one mapper", "how known", "stored now"], rows, [1]),
      "",
      ...directions
        .filter(({ basis }) => basis === "computed")
        .flatMap((one) => wrap(`${one.source} -> ${one.target}: ${one.how}`, screen.width)),
    ];
  });
}
