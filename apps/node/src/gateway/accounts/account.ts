import type { HelmAnswer, TransferReport } from "@helm/contracts";
import { FallbackReason } from "@helm/contracts";
import type { Outcome } from "../answers/helm-headers";
import type { Exchange, GatewayResources, RouteView } from "../exchange/resources";

/** What an answered request leaves behind: metrics, the control plane's counters, one log line. */
export interface Served {
  route: RouteView | null;
  outcome: Outcome;
  tokensMoved: number;
  firstTokenMs: number | null;
  transferMs: number | null;
  /** What the engine said of a transfer, and how long staging took. */
  report?: TransferReport | null;
  stageMs?: number | null;
}

export function account(gw: GatewayResources, x: Exchange, served: Served): void {
  const { outcome, route } = served;
  const pair = route?.pair.id ?? null;
  gw.metrics.requests.inc({
    tenant: gw.metrics.tenantLabel(x.tenant.id),
    route: route?.route.name ?? "explicit",
    served_by: outcome.servedBy,
  });
  if (outcome.decision === "escalated") {
    gw.metrics.escalations.inc({ reason: outcome.reason ?? "NONE", pair: pair ?? "none" });
  }
  countTransfer(gw, route, outcome, served.report ?? null);
  if (outcome.transfer === "transferred" && served.transferMs !== null) {
    gw.metrics.transferSeconds.observe(served.transferMs / 1000);
  }
  gw.stats.add({
    tenant_id: x.tenant.id,
    pair_id: pair,
    decision: outcome.decision,
    reason: outcome.reason,
    transfer: outcome.transfer,
    tokens_moved: served.tokensMoved,
    first_token_ms: served.firstTokenMs,
  });
  const transfer = outcome.transfer === "pending" ? "fallback" : outcome.transfer;
  if (outcome.decision === "escalated" && pair !== null)
    gw.stats.addLength(pair, transfer, x.trace.promptLength, served.firstTokenMs);
  x.trace.answered({
    route: route?.route.name ?? null,
    pairId: pair,
    decision: outcome.decision,
    reason: outcome.reason,
    servedBy: outcome.servedBy,
    transfer,
    report: served.report ?? null,
    stageMs: served.stageMs ?? null,
    firstTokenMs: served.firstTokenMs,
  });
  x.log.info(
    {
      served_by: outcome.servedBy,
      decision: outcome.decision,
      reason: outcome.reason,
      transfer: outcome.transfer,
      tokens_moved: served.tokensMoved,
      first_token_ms: round(served.firstTokenMs),
      total_ms: round(performance.now() - x.startedAt),
    },
    "answered",
  );
}

/** A change of models: upwards by the route's own pair, and where the pilot was asked again, by its reverse. */
export function countTransfer(
  gw: GatewayResources,
  route: RouteView | null,
  outcome: Outcome,
  report: TransferReport | null,
): void {
  const pair = (outcome.decision === "kept" ? route?.reverse : route)?.pair.id ?? "none";
  const changed =
    outcome.decision === "escalated" || (outcome.decision === "kept" && outcome.transfer !== "none");
  if (changed) gw.metrics.transfers.inc({ result: outcome.transfer, pair });
  if (outcome.transfer === "fallback") {
    const reason = FallbackReason.safeParse(outcome.reason);
    gw.metrics.fallbacks.inc({ reason: reason.success ? reason.data : "ENGINE_ERROR" });
  }
  if (outcome.transfer === "transferred") gw.metrics.avoidedTokens.inc(report?.tokens_moved ?? 0);
}

/** The `helm` field of a routed answer. */
export function helmAnswer(
  x: Exchange,
  outcome: Outcome,
  parts: {
    report: TransferReport | null;
    judge: HelmAnswer["judge"];
    pilotMs: number | null;
    stageMs: number | null;
    firstTokenMs: number | null;
  },
): HelmAnswer {
  const moved = outcome.transfer === "transferred";
  return {
    trace_id: x.traceId,
    served_by: outcome.servedBy,
    decision: outcome.decision,
    reason: outcome.reason,
    transfer: outcome.transfer === "pending" ? "fallback" : outcome.transfer,
    tokens_moved: moved ? (parts.report?.tokens_moved ?? null) : null,
    tail_tokens: moved ? (parts.report?.tail_tokens ?? null) : null,
    judge: parts.judge,
    timing: {
      pilot_ms: round(parts.pilotMs),
      stage_ms: round(parts.stageMs),
      map_ms: moved ? mapMs(parts.report) : null,
      first_token_ms: round(parts.firstTokenMs),
      total_ms: round(performance.now() - x.startedAt) ?? 0,
    },
  };
}

/** Older reports of the reference engine call the mapping's time `strip_map_ms`. */
function mapMs(report: TransferReport | null): number | null {
  const value = report?.map_ms ?? report?.strip_map_ms;
  return typeof value === "number" ? round(value) : null;
}

function round(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 100) / 100;
}
