import type { Reservation } from "@helm/admission";
import type { Reason } from "@helm/cascade";
import type { FallbackReason, HelmAnswer, TransferReport } from "@helm/contracts";
import { type EngineError, isEngineError } from "../../engine/engine-error";
import { Leg } from "../../escalation/leg";
import { answerBody, type LineKey } from "../../escalation/leg-body";
import { admit } from "../admission/admit";
import { routeMaxTokens, withMaxTokens } from "../admission/route-defaults";
import { whileOverloaded } from "../admission/while-overloaded";
import { type AnswerSink, openSink } from "../answers/answer-sink";
import type { Outcome } from "../answers/helm-headers";
import { type Carried, carry, noteCarried } from "../conversations/carry";
import { lineOf, nativeLine, noteRead } from "../conversations/lines";
import { chainOf, keepConversation } from "../conversations/open-conversation";
import type { PromptCount } from "../exchange/prompt-count";
import type { Exchange, GatewayResources, RouteView } from "../exchange/resources";
import { drawEscalated } from "../shares/draw-share";
import { pumpLeg } from "./pump-leg";

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
  const native = { reason: null, stageMs: null, line: nativeLine(gw, x) };
  const refused = ask.fallback ? native : await tryTransfer(gw, x, view, ask, sink);
  ask.pilotRoom?.release();
  if (refused === "answered") return;
  await answerNatively(gw, x, view, ask, sink, refused);
}

type Refused = { reason: FallbackReason | null; stageMs: number | null; line: LineKey };

/** "answered", or from where the target reads the prompt itself and why (no reason: nothing was to be carried). */
async function tryTransfer(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
  ask: TargetAsk,
  sink: AnswerSink,
): Promise<"answered" | Refused> {
  const own = { reason: null, stageMs: null };
  if (ask.decision !== "escalated") return { ...own, line: heldLine(gw, x, view, ask) };
  const caller = withMaxTokens(x.generation, routeMaxTokens(x, view, ask.count));
  const carried = await carry(gw, x, view, {
    to: "target",
    count: ask.count,
    caller,
    giverRoom: ask.pilotRoom,
  });
  if (carried.kind === "prefill") return carried;
  return pumpTransferred(gw, x, view, ask, sink, carried);
}

/** A conversation that stays on the target goes on from its line; whatever else comes here is read natively. */
function heldLine(gw: GatewayResources, x: Exchange, view: RouteView, ask: TargetAsk): LineKey {
  if (ask.reason !== "SESSION_HELD") return nativeLine(gw, x);
  return lineOf(gw, x, view, "target", chainOf(gw, x, view, ask.count));
}

async function pumpTransferred(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
  ask: TargetAsk,
  sink: AnswerSink,
  carried: Extract<Carried, { kind: "leg" }>,
): Promise<"answered" | Refused> {
  const { leg, stageMs, line } = carried;
  x.trace.leg("target", leg, ask.count.tokens);
  try {
    await pumpLeg(gw, x, sink, {
      leg,
      route: view,
      outcome: (report, atEnd) => transferOutcome(view.pair.target, ask.reason, report, atEnd),
      judge: ask.judge ?? null,
      pilotMs: ask.pilotMs ?? null,
      stageMs,
    });
    noteCarried(gw, x, view, { to: "target", count: ask.count, line, report: leg.report });
    noteAnswered(gw, x, view, ask);
    if (leg.report?.result === "transferred")
      drawEscalated(gw, x, view, { count: ask.count, line, forced: ask.reason === "FORCED_SHARE" });
    return "answered";
  } catch (error) {
    if (!mayRetry(error, x, sink)) throw error;
    x.log.warn({ err: error }, "a transferred answer broke before anything had left; the target prefills");
    sink.reset();
    const reason = error.failure.kind === "timeout" ? "TIMEOUT" : "ENGINE_ERROR";
    return { reason, stageMs, line: nativeLine(gw, x) };
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
  refused: Refused,
): Promise<void> {
  const { target } = view.pair;
  const caller = withMaxTokens(x.generation, routeMaxTokens(x, view, ask.count));
  const body = answerBody(caller, target, refused.line);
  const { firstTokenMs, idleMs } = gw.limits;
  const limits = { signal: x.signal, firstTokenMs, idleMs };
  const leg = await whileOverloaded(gw, x, target, () =>
    Leg.open(x.engine.client, x.generation.endpoint, body, limits),
  );
  x.trace.leg("target", leg, ask.count.tokens);
  const fallback = ask.fallback || refused.reason !== null;
  const outcome: Outcome = {
    servedBy: target,
    decision: ask.decision,
    reason: refused.reason ?? ask.reason,
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
    noteRead(x, view, "target", chainOf(gw, x, view, ask.count), refused.line);
    noteAnswered(gw, x, view, ask);
    if (ask.reason === "FORCED_SHARE")
      drawEscalated(gw, x, view, { count: ask.count, line: refused.line, forced: true });
  } finally {
    leg.cancel();
  }
}

/** The conversation is the target's now; an answer that it was held for counts towards the route's bound, too. */
function noteAnswered(gw: GatewayResources, x: Exchange, view: RouteView, ask: TargetAsk): void {
  const came = ask.decision === "escalated";
  if (!came && ask.reason !== "SESSION_HELD") return;
  x.conversation?.targetAnswered(came);
  keepConversation(gw, x, view, ask.count);
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
