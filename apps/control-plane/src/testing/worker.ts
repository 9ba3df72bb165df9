import { createHash } from "node:crypto";
import type { CalibrationEvent, ClaimedJob, ClaimRequest, ModelFacts, SequenceCounts } from "@helm/contracts";
import { sequence as probe } from "@helm/pairing/testing";
import type { TestControlPlane } from "./control-plane";
import { WORKER_TOKEN } from "./names";

const AT = "2026-11-30T06:00:00.000Z";

export function facts(id: string, changes: Partial<ModelFacts> = {}): ModelFacts {
  return {
    id,
    model_type: "qwen3",
    num_hidden_layers: 28,
    hidden_size: 1024,
    num_attention_heads: 16,
    num_key_value_heads: 8,
    head_dim: 128,
    vocab_size: 151_936,
    rope_theta: 1_000_000,
    tokenizer: "qwen3",
    weights_sha256: createHash("sha256").update(id).digest("hex"),
    ...changes,
  };
}

/** One probe sequence as a calibration sends it, with what the pilot is compared by. */
export function sequence(index: number, share: number, extra: Partial<SequenceCounts> = {}): SequenceCounts {
  return probe(index, share, { kl_sum: 0.1, recovered: 20, lost: 2, ...extra });
}

/** The least that a verdict takes. */
export const SEQUENCES = 100;

function many(n: number, share: number): SequenceCounts[] {
  return Array.from({ length: n }, (_, i) => sequence(i, share));
}

const PILOT_ALONE = 0.6;

/** The mapper's rows: what it recovered and lost follows from its own agreement and the pilot's. */
function mapped(share: number): SequenceCounts[] {
  const agreed = ({ first, early, late }: SequenceCounts) => first.agree + early.agree + late.agree;
  const net = agreed(sequence(0, share)) - agreed(sequence(0, PILOT_ALONE));
  const rescue = { recovered: Math.max(net, 0), lost: Math.max(-net, 0) };
  const report = many(8, share).map((row) => ({ ...row, id: `r${row.id}`, split: "report" as const }));
  return [...many(SEQUENCES, share).map((row) => ({ ...row, ...rescue })), ...report];
}

export interface RunShape {
  /** Agreement of the mapper's arm. */
  share: number;
  identity?: number;
  selfMap?: number;
  device?: string;
  /** What the job was asked for, as the claim says it. */
  asked?: { source: string; target: string; method: string; k: number };
  /** Events that a job of another kind would print. */
  edit?: (events: CalibrationEvent[]) => CalibrationEvent[];
}

/** The events a real job prints, in its order, around counts of a known shape. */
export function runEvents(artifact: Buffer, shape: RunShape): CalibrationEvent[] {
  const base = { v: 1 as const, at: AT };
  const asked = shape.asked ?? { source: "pilot", target: "target", method: "ridge", k: 4 };
  const arms: [string, SequenceCounts[]][] = [
    ["mapper", mapped(shape.share)],
    ["identity", many(SEQUENCES, shape.identity ?? 1)],
    ["self_map", many(SEQUENCES, shape.selfMap ?? 1)],
    ["zero_cache", many(SEQUENCES, 0.2)],
    ["other_sequence", many(SEQUENCES, 0.4)],
    ["no_rerotation", many(SEQUENCES, 0.5)],
    ["shuffled_heads", many(SEQUENCES, 0.3)],
    ["pilot_alone", many(SEQUENCES, PILOT_ALONE)],
  ];
  return [
    {
      ...base,
      type: "started",
      pair: { source: facts(asked.source), target: facts(asked.target) },
      method: asked.method === "default" ? "ridge" : asked.method,
      k: asked.k,
      device: shape.device ?? "cpu",
      corpus: { name: "bundled" },
      versions: { torch: "2.13.0" },
    },
    { ...base, type: "stage", stage: "capture", index: 1, of: 7 },
    {
      ...base,
      type: "progress",
      stage: "capture",
      done: 5,
      total: 10,
      percent: 20,
      rate: 12.5,
      unit: "sequences",
    },
    { ...base, type: "log", level: "info", message: "half of the corpus captured" },
    ...arms.map(([arm, sequences]) => ({ ...base, type: "counts", arm, sequences }) as CalibrationEvent),
    {
      ...base,
      type: "result",
      artifact: { sha256: sha256(artifact), path: "mapper.safetensors", bytes: artifact.length },
      scores: {
        kl: 0.05,
        kl_p95: 0.2,
        kv_cosine: { k: 0.9, v: 0.85, k_by_layer_head: [[0.9]], v_by_layer_head: [[0.85]] },
      },
      cost: [],
      manifest: { schema: 1 },
    },
  ];
}

export function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** A worker that speaks the protocol over HTTP. */
export async function joinWorker(control: Pick<TestControlPlane, "request">, token = WORKER_TOKEN) {
  const joined = await control.request("POST", "/api/hosts/join", {
    json: {
      kind: "worker",
      join_token: token,
      name: "w1",
      version: "0.1.0",
      device: "cpu",
      hardware: "none",
      devices: [{ vendor: "none", name: "no accelerator", capability: null }],
    },
  });
  if (joined.status !== 200) throw new Error(`join: ${joined.status} ${JSON.stringify(joined.json)}`);
  const { id, credential } = joined.json as { id: string; credential: string };
  const post = (path: string, json: unknown) =>
    control.request("POST", `/api/worker/${path}`, { json, bearer: credential });

  const worker = {
    id,
    credential,
    claim: (input: ClaimRequest = {}) =>
      post("claim", { models: ["pilot", "target", "odd", "small", "large"], devices: ["cpu"], ...input }),
    heartbeat: (job: string, attempt: string, more: object = {}) =>
      post(`jobs/${job}/heartbeat`, { attempt, last_seq: 0, ...more }),
    events: (job: string, attempt: string, events: CalibrationEvent[], from = 1) =>
      post(`jobs/${job}/events`, {
        job,
        attempt,
        events: events.map((event, i) => ({ seq: from + i, event })),
      }),
    upload: (job: string, attempt: string, bytes: Buffer, name = sha256(bytes)) =>
      control.request("PATCH", `/api/worker/artifacts/${name}?job=${job}&attempt=${attempt}`, {
        body: bytes,
        bearer: credential,
        headers: { "upload-offset": "0", "upload-length": String(bytes.length) },
      }),
    finish: (job: string, json: Record<string, unknown>) => post(`jobs/${job}/finish`, json),
    /** Takes every waiting inspection and answers with these facts. */
    inspectAll: async (models: Record<string, ModelFacts | null>) => {
      for (;;) {
        const job = await worker.claim();
        if (job.status === 204) return;
        const found = models[job.json.model as string] ?? null;
        await worker.finish(
          job.json.id,
          found
            ? { attempt: job.json.attempt, outcome: "inspected", facts: found }
            : {
                attempt: job.json.attempt,
                outcome: "failed",
                code: "UNREADABLE",
                message: `${job.json.model} has no config.json`,
              },
        );
      }
    },
    /** From claim to finish. */
    run: async (artifact: Buffer, shape: RunShape) => {
      const job = (await worker.claim()).json as Extract<ClaimedJob, { kind: "calibration" }>;
      const { source_model: source, target_model: target, method, k } = job;
      const printed = runEvents(artifact, { asked: { source, target, method, k }, ...shape });
      const events = shape.edit?.(printed) ?? printed;
      await worker.events(job.id, job.attempt, events);
      await worker.upload(job.id, job.attempt, artifact);
      const finished = await worker.finish(job.id, {
        attempt: job.attempt,
        outcome: "fitted",
        artifact_sha256: sha256(artifact),
      });
      return { ...job, finished };
    },
  };
  return worker;
}

export type TestWorker = Awaited<ReturnType<typeof joinWorker>>;

export const BUNDLED = {
  pilot: facts("pilot"),
  target: facts("target", { num_hidden_layers: 32 }),
  odd: facts("odd", { num_key_value_heads: 4 }),
};

/** Registers a pair through the worker's inspection and returns its id. */
export async function registerPair(
  control: Pick<TestControlPlane, "as">,
  worker: TestWorker,
  sourceModel: string,
  targetModel: string,
) {
  const { registrationId } = await control.as("admin").pair.register({ sourceModel, targetModel });
  await worker.inspectAll(BUNDLED);
  const registration = await control.as("viewer").pair.registration({ id: registrationId });
  return registration;
}
