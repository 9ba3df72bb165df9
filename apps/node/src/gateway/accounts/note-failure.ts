import { decisionOfError, ENGINE_REFUSED } from "@helm/contracts";
import { z } from "zod";
import type { TraceBuilder, TraceFailure } from "../../trace/trace-builder";
import { toGatewayError } from "../errors/gateway-error";
import type { GatewayResources } from "../exchange/resources";

/** What a client that left is written down as; nothing is sent to it. */
const GONE: TraceFailure = { status: 499, code: "client_gone", shortfall: null };

const ShortfallDetail = z.object({
  needed_bytes: z.number(),
  available_bytes: z.number(),
  shortfall_bytes: z.number(),
  never_fits: z.boolean(),
});

/** A request that ended in an error: in its trace, and among the counters. */
export function noteFailure(gw: GatewayResources, trace: TraceBuilder, thrown: unknown, gone: boolean): void {
  note(gw, trace, gone ? GONE : failureOf(thrown));
}

function failureOf(thrown: unknown): TraceFailure {
  const { status, code, detail } = toGatewayError(thrown);
  return { status, code, shortfall: ShortfallDetail.safeParse(detail.helm).data ?? null };
}

/** The engine's own error, passed on unread to who named the model: of its code nothing is known here. */
export function noteEngineAnswer(gw: GatewayResources, trace: TraceBuilder, status: number): void {
  note(gw, trace, { status, code: status < 500 ? ENGINE_REFUSED : "engine_error", shortfall: null });
}

/** A request is counted once: one that was answered and whose caller then left is counted as answered. */
function note(gw: GatewayResources, trace: TraceBuilder, failure: TraceFailure): void {
  trace.failed(failure);
  if (trace.isAnswered) return;
  const { status, code, shortfall } = failure;
  const decision = decisionOfError(status, code);
  if (decision === "refused") gw.metrics.admission.inc({ outcome: code });
  gw.stats.add({
    tenant_id: trace.tenant.id,
    pair_id: null,
    decision,
    reason: code,
    transfer: null,
    tokens_moved: 0,
    first_token_ms: null,
    shortfall_bytes: shortfall?.shortfall_bytes,
  });
}
