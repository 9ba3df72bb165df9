import {
  ClaimedJob,
  type ClaimRequest,
  EventAck,
  type EventBatch,
  type FinishRequest,
  HeartbeatResponse,
} from "@helm/contracts";
import { HostClient, HostRequestError, uploadArtifact } from "@helm/host";
import type { Socket } from "socket.io-client";
import { z } from "zod";

/** Larger batches go over HTTP, where no frame limit holds. */
const SOCKET_BYTES = 128 * 1024;
const ACK_MS = 10_000;
const UPLOAD_MS = 15 * 60_000;

/** What an ack without success means for asking again; any other code is the control plane's trouble of the moment. */
const REFUSED: Record<string, number> = {
  ATTEMPT_FENCED: 409,
  BAD_REQUEST: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  // What is missing was acknowledged once, so it is here no more and cannot be sent again.
  GAP: 422,
};

/** The worker's side of the protocol in packages/contracts/worker-protocol. */
export class ControlPlane {
  private readonly client: HostClient;
  private readonly uploads: HostClient;
  constructor(
    options: { controlUrl: string; credential: string },
    private readonly socket: Socket | null,
  ) {
    this.client = new HostClient(options);
    this.uploads = new HostClient({ ...options, timeoutMs: UPLOAD_MS });
  }

  claim(offer: ClaimRequest): Promise<ClaimedJob | null> {
    return this.client.call("POST", "/api/worker/claim", ClaimedJob, { json: offer });
  }

  async heartbeat(
    job: string,
    attempt: string,
    lastSeq: number,
    roomFree = false,
  ): Promise<z.infer<typeof HeartbeatResponse>> {
    const json = { attempt, last_seq: lastSeq, ...(roomFree ? { room_free: true } : {}) };
    const answer = await this.client.call("POST", `/api/worker/jobs/${job}/heartbeat`, HeartbeatResponse, {
      json,
    });
    if (!answer) throw new HostRequestError(502, "PROTOCOL", "A heartbeat was answered with nothing.");
    return answer;
  }

  /** Errors: HostRequestError; ATTEMPT_FENCED where a newer attempt exists. */
  async events(batch: EventBatch): Promise<EventAck> {
    const ack = (await this.eventsBySocket(batch)) ?? (await this.eventsByHttp(batch));
    if (ack.ok) return ack;
    throw new HostRequestError(
      REFUSED[ack.code ?? ""] ?? 503,
      ack.code ?? null,
      `Events of ${batch.job} were not taken: ${ack.code ?? "no reason"}.`,
    );
  }

  private async eventsBySocket(batch: EventBatch): Promise<EventAck | null> {
    if (!this.socket?.connected || JSON.stringify(batch).length > SOCKET_BYTES) return null;
    try {
      return EventAck.parse(await this.socket.timeout(ACK_MS).emitWithAck("calibration:event", batch));
    } catch {
      return null;
    }
  }

  private async eventsByHttp(batch: EventBatch): Promise<EventAck> {
    const ack = await this.client.call("POST", `/api/worker/jobs/${batch.job}/events`, EventAck, {
      json: batch,
    });
    if (!ack) throw new HostRequestError(502, "PROTOCOL", "Events were answered with nothing.");
    return ack;
  }

  upload(file: string, sha256: string, job: string, attempt: string): Promise<void> {
    const query = new URLSearchParams({ job, attempt });
    return uploadArtifact(this.uploads, {
      file,
      sha256,
      urlPath: `/api/worker/artifacts/${sha256}?${query}`,
    });
  }

  async finish(job: string, request: FinishRequest): Promise<void> {
    await this.client.call("POST", `/api/worker/jobs/${job}/finish`, z.unknown(), { json: request });
  }

  async close(): Promise<void> {
    this.socket?.disconnect();
    await this.client.close();
    await this.uploads.close();
  }
}

/** A newer attempt exists, or the job is not ours any more: nothing of it may be sent again. */
export function isFenced(error: unknown): boolean {
  return (
    error instanceof HostRequestError &&
    (error.code === "ATTEMPT_FENCED" || error.code === "ILLEGAL_TRANSITION" || error.status === 404)
  );
}

/** Refused for good: asking again would be answered the same. */
export function isRefused(error: unknown): boolean {
  return error instanceof HostRequestError && !error.retriable && !isFenced(error) && !isRevoked(error);
}

/** The control plane does not know this host's credential (any more). */
export function isRevoked(error: unknown): boolean {
  return error instanceof HostRequestError && error.status === 401;
}
