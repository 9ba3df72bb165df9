import { z } from "zod";
import { CalibrationEvent } from "./calibration-event";
import { MachineId } from "./machine-id";
import { DeviceFacts } from "./model-facts";
import { HardwareVerdict } from "./states";
import { INT32_MAX, Int32 } from "./text";

/** HTTP under /api/hosts: join tokens are one-use; the credential comes back once and goes in `Authorization: Bearer`. */
export const JoinRequest = z.object({
  kind: z.enum(["worker", "node"]),
  join_token: z.string(),
  name: z.string().min(1).max(80),
  version: z.string(),
  device: z.enum(["cuda", "rocm", "cpu"]),
  hardware: HardwareVerdict,
  devices: z.array(DeviceFacts),
  engine: z.string().nullish(),
  /** Where a node's gateway answers, for the console and the demo. */
  url: z.string().nullish(),
  machine: MachineId.nullish(),
});
export type JoinRequest = z.infer<typeof JoinRequest>;
export const JoinResponse = z.object({
  id: z.string(),
  credential: z.string(),
  /** Ed25519 public key (SPKI, PEM) that snapshots and access lists are signed with. */
  signing_key: z.string(),
});
export type JoinResponse = z.infer<typeof JoinResponse>;

/** Where a calibration finds its memory: beside the engines that serve, or after the nodes of its machine were drained. */
export const CalibrationRoom = z.enum(["beside", "drain"]);
export type CalibrationRoom = z.infer<typeof CalibrationRoom>;

/**
 * Body of POST /api/worker/claim; the last one is kept as what the worker offers. An empty body means any model.
 * With `waiting` set and no `rooms` the worker takes nothing now: the run stays QUEUED and shows the sentence as its reason.
 */
export const ClaimRequest = z.object({
  models: z.array(z.string()).max(1000).optional(),
  corpora: z.array(z.string()).max(1000).optional(),
  devices: z.array(z.enum(["cuda", "rocm", "cpu"])).optional(),
  waiting: z.string().max(500).nullish(),
  /**
   * Kinds of calibration that the worker could take now; both where it says neither this nor `waiting`, which is then why
   * one is missing. An inspection needs no room: who names its rooms takes one whatever it waits for.
   */
  rooms: z.array(CalibrationRoom).max(2).optional(),
  /** A worker that does not say it is given no run that drains nodes: nobody would know which. */
  machine: MachineId.nullish(),
  /** The worker's clock at this moment. */
  at: z.string().max(40).nullish(),
});
export type ClaimRequest = z.infer<typeof ClaimRequest>;

/** Hints on /workers: "work" (something may be queued: claim now) and "cancel" {job} (heartbeat now). The rows decide. */
export const CancelHint = z.object({ job: z.string() });
export type CancelHint = z.infer<typeof CancelHint>;

/** What the run waits for before its job may begin, in a sentence: the heartbeat that no longer names it lets it go on. */
const WaitsFor = z.string().nullish();

/** POST /api/worker/claim -> 200 ClaimedJob or 204; POST /api/worker/jobs/:id/heartbeat; uploads as in artifact-protocol.ts */
export const ClaimedJob = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("calibration"),
    id: z.string(),
    attempt: z.string(),
    attempt_number: z.number().int(),
    lease_ms: z.number().int(),
    source_model: z.string(),
    target_model: z.string(),
    corpus: z.string(),
    method: z.string(),
    k: z.number().int(),
    device: z.enum(["auto", "cuda", "rocm", "cpu"]),
    options: z.record(z.string(), z.unknown()),
    room: CalibrationRoom.nullish(),
    waits_for: WaitsFor,
  }),
  z.object({
    kind: z.literal("inspection"),
    id: z.string(),
    attempt: z.string(),
    attempt_number: z.number().int(),
    lease_ms: z.number().int(),
    model: z.string(),
  }),
]);
export type ClaimedJob = z.infer<typeof ClaimedJob>;

export const HeartbeatRequest = z.object({
  attempt: z.string(),
  last_seq: z.number().int(),
  /** Its job's processes are gone: what nodes made room for is over, though its events and its mapper may be on their way still. */
  room_free: z.boolean().nullish(),
});
export type HeartbeatRequest = z.infer<typeof HeartbeatRequest>;
export const HeartbeatResponse = z.object({
  lease_ms: z.number().int(),
  /** `cancel`: end the job, gracefully first. `fenced`: a newer attempt exists, stop and upload nothing. */
  action: z.enum(["continue", "cancel", "fenced"]),
  waits_for: WaitsFor,
});
export type HeartbeatResponse = z.infer<typeof HeartbeatResponse>;

/** Socket.IO /workers, event "calibration:event", acknowledged with EventAck; also POST /api/worker/jobs/:id/events. */
export const NumberedEvent = z.object({
  seq: z.number().int().min(1).max(INT32_MAX),
  event: CalibrationEvent,
});
export const EventBatch = z.object({
  job: z.string(),
  attempt: z.string(),
  events: z.array(NumberedEvent).min(1).max(1000),
  /** The sender's clock at this moment: the control plane sets the events' times right by it. */
  sent_at: z.string().max(40).nullish(),
});
export type EventBatch = z.infer<typeof EventBatch>;
export const EventAck = z.object({ ok: z.boolean(), last_seq: z.number().int(), code: z.string().nullish() });
export type EventAck = z.infer<typeof EventAck>;

/** POST /api/worker/jobs/:id/finish */
export const FinishRequest = z.object({
  attempt: z.string(),
  outcome: z.enum(["fitted", "failed", "cancelled", "inspected"]),
  artifact_sha256: z.string().nullish(),
  facts: z.unknown().nullish(),
  code: z.string().nullish(),
  message: z.string().nullish(),
  exit_code: Int32.nullish(),
});
export type FinishRequest = z.infer<typeof FinishRequest>;
