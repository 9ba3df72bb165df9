import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Drift, DriftTurn, ExitCode } from "@helm/contracts";
import { locatePython } from "@helm/host";
import { z } from "zod";
import type { Context } from "../../context";
import { Failure, usage } from "../../failure";
import { locateModel } from "../../models";
import { requireServer } from "../../server/client";
import { table } from "../../terminal/style";
import { runDriftJob } from "./drift-job";

type Raw = Record<string, string | boolean | undefined>;
const Carry = z.object({
  name: z.literal("drift"),
  carry: z.enum(["new", "all"]),
  turns: z.array(DriftTurn),
});

/** Runs the measurement on this host, on the CPU, and stores it with --record. */
export async function measureDrift(context: Context, raw: Raw): Promise<void> {
  const { config, screen } = context;
  const server = raw.record === true ? await requireServer(config) : null;
  const [source, target] = await Promise.all([
    locateModel(String(raw.sourceModel), config),
    locateModel(String(raw.targetModel), config),
  ]);
  const [mapper, reverse] = await Promise.all([
    locateMapper(String(raw.mapper), config.artifactDir),
    locateMapper(String(raw.reverseMapper), config.artifactDir),
  ]);
  const carries: Partial<Record<"new" | "all", DriftTurn[]>> = {};
  await runDriftJob(
    context,
    locatePython(config.python),
    [
      ...["--source-model", source.folder, "--target-model", target.folder],
      ...["--mapper", mapper.path, "--reverse-mapper", reverse.path],
      ...[
        "--turns",
        whole("--turns", raw.turns),
        "--conversations",
        whole("--conversations", raw.conversations),
      ],
    ],
    (event) => {
      const told = Carry.safeParse(event);
      if (told.success) carries[told.data.carry] = told.data.turns;
    },
  );
  const drift = Drift.parse({
    v: 1,
    type: "drift",
    at: new Date().toISOString(),
    pair: { source: source.id, target: target.id },
    mapper_sha256: await mapper.digest(),
    reverse_mapper_sha256: await reverse.digest(),
    carries,
    device: "cpu",
    development: true,
  });
  const recorded = server ? await server.drift.record.mutate(drift) : null;
  screen.answer(recorded ? { ...drift, recorded: recorded.id } : drift, () => [
    ...driftLines(drift),
    ...(recorded ? ["", `Recorded as ${recorded.id}; the pair's page draws it.`] : []),
  ]);
}

export function driftLines({ carries, pair }: Drift): string[] {
  const rows = carries.new.map(({ turn, direction, retention, n }, at) => [
    String(turn),
    direction === "up" ? `${pair.source} to ${pair.target}` : `${pair.target} to ${pair.source}`,
    retention.toFixed(3),
    carries.all?.[at]?.retention.toFixed(3) ?? "-",
    String(n),
  ]);
  return table(
    ["turn", "cache goes from", "new rows mapped", "all mapped anew", "conversations"],
    rows,
    [0, 2, 3, 4],
  );
}

async function locateMapper(given: string, artifacts: string) {
  const places = /^[0-9a-f]{64}$/.test(given) ? [join(artifacts, given), resolve(given)] : [resolve(given)];
  for (const path of places) {
    const found = await stat(path).catch(() => null);
    if (!found) continue;
    const file = found.isDirectory() ? join(path, "mapper.safetensors") : path;
    return { path, digest: () => sha256Of(file) };
  }
  throw new Failure(
    ExitCode.unreadable,
    "MAPPER_NOT_FOUND",
    `There is no mapper "${given}". Name its folder or file, or the digest of one under ${artifacts}.`,
  );
}

async function sha256Of(file: string): Promise<string> {
  const { createHash } = await import("node:crypto");
  const { createReadStream } = await import("node:fs");
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest("hex");
}

function whole(name: string, given: Raw[string]): string {
  if (typeof given !== "string" || !/^[1-9]\d*$/.test(given))
    throw usage(`${name} ${String(given)} is no whole number from 1 on.`);
  return given;
}
