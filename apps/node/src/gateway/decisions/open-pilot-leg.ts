import { readsMargins } from "@helm/cascade";
import type { FallbackReason } from "@helm/contracts";
import { Leg } from "../../escalation/leg";
import { answerBody, type LineKey, pilotCaller } from "../../escalation/leg-body";
import { withMaxTokens } from "../admission/route-defaults";
import { whileOverloaded } from "../admission/while-overloaded";
import type { Outcome } from "../answers/helm-headers";
import { carry, noteCarried } from "../conversations/carry";
import { lineOf, noteRead } from "../conversations/lines";
import { chainOf } from "../conversations/open-conversation";
import type { PromptCount } from "../exchange/prompt-count";
import type { Exchange, GatewayResources, RouteView } from "../exchange/resources";

/** The pilot under way, and how it came by the conversation. */
export interface PilotLeg {
  leg: Leg;
  /** The conversation came down from the target with this request. */
  cameDown: boolean;
  /** From the target's cache, as far as the engine says so. */
  carried: boolean;
  /** Why the pilot reads itself what the target has read. */
  refused: FallbackReason | null;
  stageMs: number | null;
  line: LineKey;
}

/** Asks the pilot: from its own line, or where the conversation comes down, from the target's cache. Throws EngineError. */
export async function openPilotLeg(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
  asked: { count: PromptCount; maxTokens: number },
): Promise<PilotLeg> {
  const { count, maxTokens } = asked;
  const { endpoint } = x.generation;
  const { table } = view.route.judge;
  const margins = table !== undefined && readsMargins(table);
  const caller = pilotCaller(withMaxTokens(x.generation, maxTokens), endpoint, { margins });
  const cameDown = x.conversation?.holder === "target";
  const limits = { signal: x.signal, firstTokenMs: gw.limits.firstTokenMs, idleMs: gw.limits.idleMs };
  const ask = (line: LineKey) =>
    whileOverloaded(gw, x, view.pair.pilot, () =>
      Leg.open(x.engine.client, endpoint, answerBody(caller, view.pair.pilot, line), limits),
    );
  if (!cameDown) {
    const line = lineOf(gw, x, view, "pilot", chainOf(gw, x, view, count));
    return { leg: await ask(line), cameDown, carried: false, refused: null, stageMs: null, line };
  }
  const carried = await carry(gw, x, view, { to: "pilot", count, caller });
  if (carried.kind === "leg") return { ...carried, cameDown, carried: true, refused: null };
  const { reason: refused, stageMs, line } = carried;
  return { leg: await ask(line), cameDown, carried: false, refused, stageMs, line };
}

/** The pilot has read the prompt: what it holds now is what the next turn may count on. */
export function notePilotRead(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
  count: PromptCount,
  asked: PilotLeg,
): void {
  const { line, leg } = asked;
  if (asked.carried) noteCarried(gw, x, view, { to: "pilot", count, line, report: leg.report });
  else noteRead(x, view, "pilot", chainOf(gw, x, view, count), line);
}

/** What is told of a pilot's answer: why it is the pilot's, and what became of the target's cache on the way down. */
export function keptOutcome(servedBy: string, reason: Outcome["reason"], asked: PilotLeg): Outcome {
  const kept = { servedBy, decision: "kept" as const };
  const { carried, refused, leg } = asked;
  if (refused !== null) return { ...kept, reason: refused, transfer: "fallback" };
  if (!carried) return { ...kept, reason, transfer: "none" };
  if (leg.report?.result === "transferred") return { ...kept, reason, transfer: "transferred" };
  return { ...kept, reason: leg.report?.reason ?? "ENGINE_ERROR", transfer: "fallback" };
}
