import type { Reservation } from "@helm/admission";
import { planTransfer, routeRefusal, type TransferPlan } from "@helm/cascade";
import { DEFAULT_MAX_SWITCHES, type FallbackReason, type TransferReport } from "@helm/contracts";
import type { JsonBody } from "../../engine/engine-client";
import type { ExpectedHit } from "../../escalation/conversation";
import type { Leg } from "../../escalation/leg";
import type { LineKey } from "../../escalation/leg-body";
import type { TokenChain } from "../../escalation/token-chain";
import { attemptTransfer } from "../../escalation/transfer-attempt";
import { StageFacts } from "../../trace/stage-facts";
import { tryReserve } from "../admission/admit";
import type { PromptCount } from "../exchange/prompt-count";
import type { Exchange, GatewayResources, PairView, RouteView } from "../exchange/resources";
import { lineOf, mappedLine, nativeLine, noteRead, refusalOf, type Side, through } from "./lines";
import { chainOf } from "./open-conversation";

export interface CarryAsk {
  /** Who is to answer: the target upwards, the pilot downwards. */
  to: Side;
  count: PromptCount;
  /** What it is asked. */
  caller: JsonBody;
  /** Room that the other model holds for this prompt already. */
  giverRoom?: Reservation;
}

export type Carried =
  | { kind: "leg"; leg: Leg; report: TransferReport | null; stageMs: number; line: LineKey }
  /** The model reads the prompt itself, from where `line` ends; no reason: nothing was to be carried. */
  | { kind: "prefill"; reason: FallbackReason | null; stageMs: number | null; line: LineKey };

/** Carries the conversation's cache to the side that is to answer, or says why it reads the prompt itself. */
export async function carry(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
  ask: CarryAsk,
): Promise<Carried> {
  const pairView = through(view, ask.to);
  const native = nativeLine(gw, x);
  const prefill = (reason: FallbackReason | null, stageMs: number | null = null): Carried => ({
    kind: "prefill",
    reason,
    stageMs,
    line: native,
  });
  if (!pairView) return prefill("NOT_CALIBRATED");
  const prompt = chainOf(gw, x, view, ask.count);
  const line = mappedLine(gw, x, pairView);
  const hit = expected(x, view, ask.to, prompt, line);
  const plan = planOf(gw, x, view, { ...ask, pairView, prompt, hit });
  if (plan.kind === "not_wanted") return prefill(null);
  if (plan.kind === "native") return prefill(plan.reason);
  if (!line) return prefill("NOT_CALIBRATED");
  if (plan.kind === "continue") return { kind: "prefill", reason: null, stageMs: null, line };
  const giver = view.pair[otherSide(ask.to)];
  const room = ask.giverRoom ?? (await tryReserve(x, giver, ask.count, 1, gw.limits.reserveMs));
  if (room === null) return prefill("NO_MEMORY");
  const stage = new StageFacts(giver);
  x.trace.leg("stage", stage);
  const outcome = await attemptTransfer(
    x.engine.client,
    gw.salts,
    {
      endpoint: x.generation.endpoint,
      caller: ask.caller,
      tenant: x.tenant.id,
      promptTokens: ask.count.ids ?? [],
      giver: { model: giver, line: lineOf(gw, x, view, otherSide(ask.to), prompt) },
      taker: { model: view.pair[ask.to], line },
      mapper: pairView.pair.mapper_sha256 ?? "",
      fromToken: hit.tokens,
      signal: x.signal,
      idleMs: gw.limits.idleMs,
    },
    gw.limits.transferMs,
  );
  stage.ended(outcome);
  room.release();
  if (outcome.kind === "fallback") return prefill(outcome.reason, outcome.stageMs);
  return { ...outcome, line };
}

/** What became of a carried answer, once its engine has said everything. */
export function noteCarried(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
  carried: { to: Side; count: PromptCount; line: LineKey; report: TransferReport | null },
): void {
  const { to, line, report } = carried;
  const prompt = chainOf(gw, x, view, carried.count);
  if (report?.result === "transferred" && x.conversation) {
    x.conversation.switches += 1;
    const own = x.conversation.expectedNativeHit(view.pair[to], prompt);
    const lost = Math.max(0, own - (report.tokens_reused ?? 0));
    gw.metrics.lostPrefixHits.inc({ pair: through(view, to)?.pair.id ?? "none" }, lost);
  }
  noteRead(x, view, to, prompt, line);
}

function otherSide(side: Side): Side {
  return side === "target" ? "pilot" : "target";
}

function expected(
  x: Exchange,
  view: RouteView,
  side: Side,
  prompt: TokenChain | null,
  line: LineKey | null,
): ExpectedHit {
  const nothing = { tokens: 0, mapped: false };
  return x.conversation?.expectedHit(view.pair[side], prompt, line?.salt ?? null) ?? nothing;
}

interface Facts extends CarryAsk {
  pairView: PairView;
  prompt: TokenChain | null;
  hit: ExpectedHit;
}

function planOf(gw: GatewayResources, x: Exchange, view: RouteView, facts: Facts): TransferPlan {
  const { pairView, prompt, to } = facts;
  const { pair, readiness } = pairView;
  return planTransfer({
    routeRefusal: routeRefusal(
      { helmRefusal: gw.routing.helmRefusal(), tenantEnabled: x.tenant.enabled },
      { pilot: pair.pilot, target: pair.target, refusal: refusalOf(to, pairView) },
    ),
    tenantTransferOff: x.tenant.transfer_off === true,
    switches: x.conversation?.switches ?? 0,
    maxSwitches: view.route.max_switches ?? DEFAULT_MAX_SWITCHES,
    mapperReady: readiness.state === "READY" && pair.mapper_sha256 !== null,
    minTokens: readiness.min_tokens ?? null,
    // A target that would have to read the conversation first costs more than the pilot's own reading of it.
    promptTokens: to === "target" ? facts.count.tokens : held(gw, x, view, prompt),
    expectedHit: facts.hit,
    wish: x.generation.wish,
  });
}

function held(gw: GatewayResources, x: Exchange, view: RouteView, prompt: TokenChain | null): number {
  return expected(x, view, "target", prompt, mappedLine(gw, x, view)).tokens;
}
