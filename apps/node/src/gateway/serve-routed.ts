import type { Reservation } from "@helm/admission";
import {
  effectiveJudge,
  effectiveSettings,
  HoldBack,
  judgeAnswers,
  type Reason,
  readsMargins,
} from "@helm/cascade";

import type { HelmAnswer } from "@helm/contracts";
import { choiceEvidence } from "../engine/choice-evidence";
import type { Chunk } from "../engine/chunk";

import { type EngineError, isEngineError } from "../engine/engine-error";
import { Leg } from "../escalation/leg";
import { pilotBody } from "../escalation/leg-body";
import { admit, countPrompt, type PromptCount, tryReserve } from "./admit";
import { openSink } from "./answer-sink";
import { badRequest, GatewayError } from "./gateway-error";
import { describeJudgement, type Looked, traceJudgement } from "./judgement";
import { pumpLeg } from "./pump-leg";
import type { Exchange, GatewayResources, RouteView } from "./resources";
import { routeMaxTokens, withMaxTokens } from "./route-defaults";
import { serveByTarget } from "./serve-by-target";

/** The pilot answers, the judge looks, and the answer goes out or the target takes over. */
export async function serveRouted(gw: GatewayResources, x: Exchange, view: RouteView): Promise<void> {
  const { pilot, target } = view.pair;
  const begun = await begin(gw, x, view);
  if ("refused" in begun) return answerRefused(gw, x, view, begun.refused);
  const { count, maxTokens, room } = begun;
  const targetInstead = async (failed: EngineError) => {
    room.release();
    if (failed.isRefusal) return answerRefused(gw, x, view, failed);
    x.log.warn({ err: failed }, "the pilot failed; the target answers");
    const reason = failed.failure.kind === "timeout" ? "TIMEOUT" : "ENGINE_ERROR";
    await serveByTarget(gw, x, view, { count, decision: "direct", reason, fallback: true });
  };
  const judged = await askPilot(gw, x, view, maxTokens);
  if ("failed" in judged) return targetInstead(judged.failed);
  const { leg, held, judgement, pilotMs } = judged;
  const judge = describeJudgement(judgement);
  gw.metrics.judged(judge);
  x.trace.judged(traceJudgement(x, view, judgement));
  try {
    let reason: Reason | null = judgement.outcome === "keep" ? judgement.reason : null;
    if (reason === null) {
      if (await tryReserve(x, target, count, maxTokens, gw.limits.reserveMs)) {
        leg.cancel();
        await escalate(gw, x, view, { count, judgement, judge, pilotMs, pilotRoom: room });
        return;
      }
      reason = "TARGET_BUSY";
    }
    gw.sessions.record(x.tenant.id, x.session, "pilot", view.route.hold_turns);
    const sink = openSink(x.generation, x.writer);
    try {
      await pumpLeg(gw, x, sink, {
        leg,
        route: view,
        held,
        outcome: () => ({ servedBy: pilot, decision: "kept", reason, transfer: "none" }),
        judge,
        pilotMs: null,
        stageMs: null,
      });
    } catch (error) {
      // A whole answer leaves at its end, a stream with its first token: until then another model may give it.
      if (!isEngineError(error) || sink.committed || x.signal.aborted) throw error;
      await targetInstead(error);
    }
  } finally {
    leg.cancel();
  }
}

interface Begun {
  count: PromptCount;
  maxTokens: number;
  room: Reservation;
}

/** What refuses a request for the pilot alone: its engine finding fault, or a whole budget it cannot fit into. */
type PilotRefusal = EngineError | GatewayError;

/** The prompt counted and room taken on the pilot, or why the pilot will not have it. */
async function begin(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
): Promise<Begun | { refused: PilotRefusal }> {
  const { pilot } = view.pair;
  try {
    const count = await countPrompt(x, pilot);
    if (count.lengths.length > 1) throw badRequest("prompt", "a routed request takes one prompt.");
    const maxTokens = routeMaxTokens(x, view, count);
    return { count, maxTokens, room: await admit(gw, x, pilot, count, maxTokens) };
  } catch (error) {
    const refused =
      (isEngineError(error) && error.isRefusal) || (error instanceof GatewayError && error.status === 413);
    if (!refused) throw error;
    return { refused: error };
  }
}

/**
 * The caller named no pilot: what the pilot refuses is served by the target, and only what the target refuses too
 * is the caller's to mend, in the target's words.
 */
async function answerRefused(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
  refused: PilotRefusal,
): Promise<void> {
  const { target } = view.pair;
  if (!x.engine.models.has(target)) throw refused;
  x.log.info({ err: refused }, "the pilot refused the request; the target answers");
  const count = await countPrompt(x, target);
  await serveByTarget(gw, x, view, { count, decision: "direct", reason: "PILOT_REFUSED", fallback: false });
}

interface Judged {
  leg: Leg;
  /** What was held back while the judge looked. */
  held: Chunk[];
  judgement: Looked;
  pilotMs: number;
}

async function askPilot(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
  maxTokens: number,
): Promise<Judged | { failed: EngineError }> {
  const { generation, signal } = x;
  const caller = withMaxTokens(generation, maxTokens);
  const body = pilotBody(caller, generation.endpoint, view.pair.pilot, gw.salts.native(x.tenant.id), {
    margins: view.route.judge.table !== undefined && readsMargins(view.route.judge.table),
  });
  const asked = performance.now();
  let leg: Leg | null = null;
  try {
    leg = await Leg.open(x.engine.client, generation.endpoint, body, {
      signal,
      firstTokenMs: gw.limits.firstTokenMs,
      idleMs: gw.limits.idleMs,
    });
    x.trace.leg("pilot", leg);
    const looked = await hold(gw, x, view, leg);
    return { leg, ...looked, pilotMs: performance.now() - asked };
  } catch (error) {
    leg?.cancel();
    if (!isEngineError(error) || signal.aborted) throw error;
    return { failed: error };
  }
}

/** Reads as much of the pilot's answer as the judge may see, and judges it. */
async function hold(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
  leg: Leg,
): Promise<Pick<Judged, "held" | "judgement">> {
  const { route } = view;
  const loop = x.generation.toolLoop && gw.sessions.holder(x.tenant.id, x.session) === "pilot";
  const holds = effectiveSettings(route, x.tenant);
  const mode = loop ? "stream" : holds.streaming.value;
  x.trace.holdsBack(mode);
  const back = new HoldBack(mode, holds.window.value, x.generation.n, x.generation.wantsJson);
  const held: Chunk[] = [];
  while (!back.complete) {
    const chunk = await leg.next();
    if (chunk === null) break;
    held.push(chunk);
    for (const choice of chunk.choices) {
      back.push(choice.index, choiceEvidence(choice), choice.finish_reason ?? null);
    }
  }
  if (mode === "stream") {
    return { held, judgement: { outcome: "keep", reason: loop ? "TOOL_LOOP" : "STREAM_MODE" } };
  }
  return { held, judgement: judgeAnswers(back.evidence, effectiveJudge(route, holds)) };
}

async function escalate(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
  judged: {
    count: PromptCount;
    judgement: Looked;
    judge: HelmAnswer["judge"];
    pilotMs: number;
    pilotRoom: Reservation;
  },
): Promise<void> {
  const { count, judgement, judge, pilotMs, pilotRoom } = judged;
  const noEvidence = judgement.outcome === "no_evidence";
  if (noEvidence) x.log.warn("the pilot's answer came without log-probabilities; nothing can be judged");
  await serveByTarget(gw, x, view, {
    count,
    decision: "escalated",
    reason: judgement.outcome === "escalate" ? judgement.reason : "NO_EVIDENCE",
    fallback: noEvidence,
    judge,
    pilotMs,
    pilotRoom,
    reserved: true,
  });
}

/** The nearer of the two bounds is the one that decides. */
