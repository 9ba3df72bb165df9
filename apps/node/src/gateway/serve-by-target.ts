import type { Reservation } from "@helm/admission";
import { planTransfer, type Reason, routeRefusal } from "@helm/cascade";
import type { FallbackReason, HelmAnswer, TransferReport } from "@helm/contracts";
import { type EngineError, isEngineError } from "../engine/engine-error";
import { Leg } from "../escalation/leg";
import { answerBody } from "../escalation/leg-body";
import { attemptTransfer } from "../escalation/transfer-attempt";
import { StageFacts } from "../trace/stage-facts";
import { admit, type PromptCount, tryReserve } from "./admit";
import { type AnswerSink, openSink } from "./answer-sink";
import type { Outcome } from "./helm-headers";
import { pairState } from "./pair-state";
import { pumpLeg } from "./pump-leg";
import type { Exchange, GatewayResources, RouteView } from "./resources";
import { routeMaxTokens, withMaxTokens } from "./route-defaults";

export interface TargetAsk {
  count: PromptCount;
  decision: "escalated" | "direct";
  reason: Reason;
  /** The reason is itself why no transfer takes place. */
  fallback: boolean;
  judge?: HelmAnswer["judge"];
  pilotMs?: number | null;
  /** Room on the pilot that its answer held; it is given back once its cache is staged, or not needed. */
  pilotRoom?: Reservation;
  /** Room on the target was taken already. */
  reserved?: boolean;
}

/** The target answers: from the pilot's cache where that can be had, else by its own prefill. */
export async function serveByTarget(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
  ask: TargetAsk,
): Promise<void> {
  const maxTokens = routeMaxTokens(x, view, ask.count);
  if (!ask.reserved) await admit(gw, x, view.pair.target, ask.count, maxTokens);
  const sink = openSink(x.generation, x.writer);
  const refused = ask.fallback ? null : await tryTransfer(gw, x, view, ask, sink);
  ask.pilotRoom?.release();
  if (refused === "answered") return;
  await answerNatively(gw, x, view, ask, sink, refused);
}

type Refused = { reason: FallbackReason | null; stageMs: number | null };

/** "answered", or why there was no transfer (no reason: it was not wanted). */
async function tryTransfer(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
  ask: TargetAsk,
  sink: AnswerSink,
): Promise<"answered" | Refused | null> {
  if (ask.decision !== "escalated") return null;
  const { pair, readiness } = view;
  const plan = planTransfer({
    routeRefusal: routeRefusal(
      { helmRefusal: gw.routing.helmRefusal(), tenantEnabled: x.tenant.enabled },
      pairState(view),
    ),
    tenantTransferOff: x.tenant.transfer_off === true,
    mapperReady: readiness.state === "READY" && pair.mapper_sha256 !== null,
    minTokens: readiness.min_tokens ?? null,
    promptTokens: ask.count.tokens,
    wish: x.generation.wish,
  });
  if (plan.kind === "not_wanted") return null;
  if (plan.kind === "native") return { reason: plan.reason, stageMs: null };
  const room = ask.pilotRoom ?? (await tryReserve(x, pair.pilot, ask.count, 1, gw.limits.reserveMs));
  if (room === null) return { reason: "NO_MEMORY", stageMs: null };
  const stage = new StageFacts(pair.pilot);
  x.trace.leg("stage", stage);
  const outcome = await attemptTransfer(
    x.engine.client,
    gw.salts,
    {
      endpoint: x.generation.endpoint,
      caller: withMaxTokens(x.generation, routeMaxTokens(x, view, ask.count)),
      tenant: x.tenant.id,
      conversation: x.session ?? x.traceId,
      promptTokens: ask.count.ids ?? [],
      pilot: pair.pilot,
      target: pair.target,
      mapper: pair.mapper_sha256 ?? "",
      revisions: `${pair.pilot_weights_sha256}|${pair.target_weights_sha256}`,
      signal: x.signal,
      idleMs: gw.limits.idleMs,
    },
    gw.limits.transferMs,
  );
  stage.ended(outcome);
  room.release();
  if (outcome.kind === "fallback") return outcome;
  return pumpTransferred(gw, x, view, ask, sink, outcome);
}

async function pumpTransferred(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
  ask: TargetAsk,
  sink: AnswerSink,
  transfer: { leg: Leg; stageMs: number },
): Promise<"answered" | Refused> {
  const { leg, stageMs } = transfer;
  x.trace.leg("target", leg);
  try {
    await pumpLeg(gw, x, sink, {
      leg,
      route: view,
      outcome: (report, atEnd) => transferOutcome(view.pair.target, ask.reason, report, atEnd),
      judge: ask.judge ?? null,
      pilotMs: ask.pilotMs ?? null,
      stageMs,
    });
    gw.sessions.record(x.tenant.id, x.session, "target", view.route.hold_turns);
    return "answered";
  } catch (error) {
    if (!mayRetry(error, x, sink)) throw error;
    x.log.warn({ err: error }, "a transferred answer broke before anything had left; the target prefills");
    sink.reset();
    return { reason: error.failure.kind === "timeout" ? "TIMEOUT" : "ENGINE_ERROR", stageMs };
  } finally {
    leg.cancel();
  }
}

async function answerNatively(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
  ask: TargetAsk,
  sink: AnswerSink,
  refused: Refused | null,
): Promise<void> {
  const { target } = view.pair;
  const caller = withMaxTokens(x.generation, routeMaxTokens(x, view, ask.count));
  const body = answerBody(caller, target, gw.salts.native(x.tenant.id));
  const leg = await Leg.open(x.engine.client, x.generation.endpoint, body, {
    signal: x.signal,
    firstTokenMs: gw.limits.firstTokenMs,
    idleMs: gw.limits.idleMs,
  });
  x.trace.leg("target", leg);
  const fallback = ask.fallback || Boolean(refused?.reason);
  const outcome: Outcome = {
    servedBy: target,
    decision: ask.decision,
    reason: refused?.reason ?? ask.reason,
    transfer: fallback ? "fallback" : "none",
  };
  try {
    await pumpLeg(gw, x, sink, {
      leg,
      route: view,
      outcome: () => outcome,
      judge: ask.judge ?? null,
      pilotMs: ask.pilotMs ?? null,
      stageMs: null,
    });
    // An answer that the session was held for counts towards the route's bound, too.
    if (ask.decision === "escalated" || ask.reason === "SESSION_HELD")
      gw.sessions.record(x.tenant.id, x.session, "target", view.route.hold_turns);
  } finally {
    leg.cancel();
  }
}

/** What the engine reported of a transfer; silence at the end means that nothing was carried across. */
function transferOutcome(
  target: string,
  reason: Reason,
  report: TransferReport | null,
  atEnd: boolean,
): Outcome {
  const base = { servedBy: target, decision: "escalated" as const };
  if (report?.result === "transferred") return { ...base, reason, transfer: "transferred" };
  if (report === null && !atEnd) return { ...base, reason, transfer: "pending" };
  return { ...base, reason: report?.reason ?? "ENGINE_ERROR", transfer: "fallback" };
}

/** The same request may be asked again natively while nothing has left and its client still waits. */
function mayRetry(error: unknown, x: Exchange, sink: AnswerSink): error is EngineError {
  return isEngineError(error) && !sink.committed && !x.signal.aborted;
}
