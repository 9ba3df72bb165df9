import { RefusalCode, type RequestTrace } from "@helm/contracts";
import { z } from "zod";
import type { TraceBuilder } from "../../trace/trace-builder";
import { toGatewayError } from "../errors/gateway-error";
import type { GatewayResources } from "../exchange/resources";

/** What a client that left is written down as; nothing is sent to it. */
const GONE = { status: 499, code: "client_gone" };

const ShortfallDetail = z.object({
  needed_bytes: z.number(),
  available_bytes: z.number(),
  shortfall_bytes: z.number(),
  never_fits: z.boolean(),
});

/** A request that ended in an error: in its trace, and among the counters where it was turned away or failed. */
export function noteFailure(gw: GatewayResources, trace: TraceBuilder, thrown: unknown, gone: boolean): void {
  if (gone) {
    trace.failed({ ...GONE, shortfall: null });
    return;
  }
  const error = toGatewayError(thrown);
  const shortfall = ShortfallDetail.safeParse(error.detail.helm).data ?? null;
  trace.failed({ status: error.status, code: error.code, shortfall });
  const decision = decisionOf(error.status, error.code);
  if (decision === null) return;
  if (decision === "refused") gw.metrics.admission.inc({ outcome: error.code });
  gw.stats.add({
    tenant_id: trace.tenant.id,
    pair_id: null,
    decision,
    reason: error.code,
    transfer: null,
    tokens_moved: 0,
    first_token_ms: null,
    shortfall_bytes: shortfall?.shortfall_bytes,
  });
}

/** A caller's own mistake is no traffic that was turned away. */
function decisionOf(status: RequestTrace["status"], code: string): "refused" | "failed" | null {
  if (RefusalCode.safeParse(code).success) return "refused";
  return status >= 500 ? "failed" : null;
}
