import type { CalibrationEvent, SequenceCounts } from "@helm/contracts";
import type { MapperManifest } from "./manifest";

const MOST = 200;

/** The events that the job printed, as far as its file kept them: what it ran, its fits, its counts, its result. */
export function toEvents(
  manifest: MapperManifest,
  artifact: { sha256: string; bytes: number },
  at: string,
): CalibrationEvent[] {
  const base = { v: 1 as const, at };
  const { counts, source, target, method, k, device, corpus, versions, scores, cost, ...rest } = manifest;
  const rows = Object.entries(counts).flatMap(([name, sequences]) => {
    const arm = name === "report" || name === "long" ? "mapper" : name;
    return batches(sequences).map(
      (some) => ({ ...base, type: "counts", arm, sequences: some }) as CalibrationEvent,
    );
  });
  const fits = manifest.fit.map(
    (fit, layer) => ({ ...base, type: "metric", name: "layer_fit", layer, fit }) as CalibrationEvent,
  );
  return [
    { ...base, type: "started", pair: { source, target }, method, k, device, corpus, versions },
    ...fits,
    ...rows,
    {
      ...base,
      type: "result",
      artifact: { ...artifact, path: `${artifact.sha256}/mapper.safetensors` },
      scores,
      cost,
      manifest: { ...rest, k, device, corpus, versions, scores, cost },
    },
  ];
}

function batches(sequences: SequenceCounts[]): SequenceCounts[][] {
  const found: SequenceCounts[][] = [];
  for (let at = 0; at < sequences.length; at += MOST) found.push(sequences.slice(at, at + MOST));
  return found;
}
