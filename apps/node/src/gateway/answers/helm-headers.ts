import type { Reason } from "@helm/cascade";
import { type Decision, GatewayHeader } from "@helm/contracts";

/** What happened to a request, as headers and body say it. */
export interface Outcome {
  servedBy: string;
  decision: Decision;
  reason: Reason | null;
  /** `pending`: bytes leave before the engine has said whether the transfer took; the last chunk says it. */
  transfer: "transferred" | "fallback" | "none" | "pending";
}

export function helmHeaders(outcome: Outcome, traceId: string, development: boolean): Record<string, string> {
  return {
    ...baseHeaders(traceId, development),
    [GatewayHeader.servedBy]: outcome.servedBy,
    [GatewayHeader.decision]: outcome.decision,
    ...(outcome.reason === null ? {} : { [GatewayHeader.reason]: outcome.reason }),
    [GatewayHeader.transfer]: outcome.transfer,
  };
}

/** On every answer, errors included. */
export function baseHeaders(traceId: string, development: boolean): Record<string, string> {
  return {
    "x-request-id": traceId,
    [GatewayHeader.traceId]: traceId,
    ...(development ? { [GatewayHeader.mode]: "development" } : {}),
  };
}
