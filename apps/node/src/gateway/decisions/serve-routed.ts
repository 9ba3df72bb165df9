import type { Reservation } from "@helm/admission";
import { effectiveJudge, effectiveSettings, HoldBack, judgeAnswers, type Reason } from "@helm/cascade";
import type { HelmAnswer } from "@helm/contracts";
import { choiceEvidence } from "../../engine/choice-evidence";
import type { Chunk } from "../../engine/chunk";
import { type EngineError, isEngineError } from "../../engine/engine-error";
import type { Leg } from "../../escalation/leg";
import { countTransfer } from "../accounts/account";
import { admit, countPrompt, noteStarted, tryReserve } from "../admission/admit";
import { routeMaxTokens } from "../admission/route-defaults";
import { openSink } from "../answers/answer-sink";
import { keepConversation } from "../conversations/open-conversation";
import { badRequest, GatewayError } from "../errors/gateway-error";
import type { PromptCount } from "../exchange/prompt-count";
import type { Exchange, GatewayResources, RouteView } from "../exchange/resources";
import { drawForced, drawKept } from "../shares/draw-share";
import { describeJudgement, type Looked, traceJudgement } from "./judgement";
import { keptOutcome, notePilotRead, openPilotLeg, type PilotLeg } from "./open-pilot-leg";
import { pumpLeg } from "./pump-leg";
import { serveByTarget } from "./serve-by-target";

/** The pilot answers, the judge looks, and the answer goes out or the target takes over. */
export async function serveRouted(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
  wish: PilotWish = {},
): Promise<void> {
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
  const judged = await askPilot(gw, x, view, { count, maxTokens, ...wish });
  if ("failed" in judged) return targetInstead(judged.failed);
  const { asked, held, judgement, pilotMs } = judged;
  const { leg } = asked;
  const judge = describeJudgement(judgement);
  gw.metrics.judged(judge);
  x.trace.judged(traceJudgement(x, view, judgement));
  try {
    const sure = judgement.outcome === "keep" && judgement.reason === "CONFIDENT";
    const forced = sure && drawForced(gw, view);
    let reason: Reason | null = judgement.outcome === "keep" && !forced ? judgement.reason : null;
    if (reason === null) {
      if (await tryReserve(x, target, count, maxTokens, forced ? 0 : gw.limits.reserveMs)) {
        leg.cancel();
        if (asked.cameDown) countTransfer(gw, view, keptOutcome(pilot, null, asked), leg.report);
        await escalate(gw, x, view, { count, judgement, judge, pilotMs, pilotRoom: room });
        return;
      }
      reason = forced ? "CONFIDENT" : "TARGET_BUSY";
    }
    const sink = openSink(x.generation, x.writer);
    try {
      await pumpLeg(gw, x, sink, {
        leg,
        route: view,
        held,
        outcome: () => keptOutcome(pilot, reason, asked),
        judge,
        pilotMs: null,
        stageMs: asked.stageMs,
      });
      x.conversation?.pilotAnswered(asked.cameDown);
      keepConversation(gw, x, view, count);
      if (sure && !forced) drawKept(gw, x, view, { count, line: asked.line });
    } catch (error) {
      // A whole answer leaves at its end, a stream with its first token: until then another model may give it.
      if (!isEngineError(error) || sink.committed || x.signal.aborted) throw error;
      await targetInstead(error);
    }
  } finally {
    leg.cancel();
  }
}

/** An agent asked for the pilot itself: its answer goes out unjudged. */
export interface PilotWish {
  asked?: "RETURNED";
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
  asked: PilotLeg;
  /** What was held back while the judge looked. */
  held: Chunk[];
  judgement: Looked;
  pilotMs: number;
}

async function askPilot(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
  ask: { count: PromptCount; maxTokens: number } & PilotWish,
): Promise<Judged | { failed: EngineError }> {
  const began = performance.now();
  let asked: PilotLeg | null = null;
  try {
    asked = await openPilotLeg(gw, x, view, ask);
    x.trace.leg("pilot", asked.leg, ask.count.tokens);
    const looked = await hold(x, view, asked.leg, ask.asked);
    notePilotRead(gw, x, view, ask.count, asked);
    return { asked, ...looked, pilotMs: performance.now() - began };
  } catch (error) {
    asked?.leg.cancel();
    if (!isEngineError(error) || x.signal.aborted) throw error;
    return { failed: error };
  }
}

/** Reads as much of the pilot's answer as the judge may see, and judges it. */
async function hold(
  x: Exchange,
  view: RouteView,
  leg: Leg,
  wished: PilotWish["asked"],
): Promise<Pick<Judged, "held" | "judgement">> {
  const { route } = view;
  const loop = x.generation.toolLoop && x.conversation?.holder === "pilot";
  const holds = effectiveSettings(route, x.tenant);
  const mode = loop || wished ? "stream" : holds.streaming.value;
  x.trace.holdsBack(mode);
  const back = new HoldBack(mode, holds.window.value, x.generation.n, x.generation.wantsJson);
  const held: Chunk[] = [];
  while (!back.complete) {
    const chunk = await leg.next();
    if (chunk === null) break;
    if (held.push(chunk) === 1) noteStarted(x);
    for (const choice of chunk.choices) {
      back.push(choice.index, choiceEvidence(choice), choice.finish_reason ?? null);
    }
  }
  if (mode === "stream") {
    const reason = wished ?? (loop ? "TOOL_LOOP" : "STREAM_MODE");
    return { held, judgement: { outcome: "keep", reason } };
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
  if (noEvidence) {
    gw.metrics.alarms.inc({ code: "NO_EVIDENCE" });
    x.log.error(
      { alarm: "NO_EVIDENCE" },
      "the pilot's answer came without log-probabilities: nothing is judged",
    );
  }
  await serveByTarget(gw, x, view, {
    count,
    decision: "escalated",
    reason: reasonOf(judgement),
    fallback: noEvidence,
    judge,
    pilotMs,
    pilotRoom,
    reserved: true,
  });
}

/** What the judge would have kept was escalated by chance. */
function reasonOf(judgement: Looked): Reason {
  if (judgement.outcome === "keep") return "FORCED_SHARE";
  return judgement.outcome === "escalate" ? judgement.reason : "NO_EVIDENCE";
}
