import type { LineKey } from "../../escalation/leg-body";
import { lineOf } from "../conversations/lines";
import { chainOf } from "../conversations/open-conversation";
import type { PromptCount } from "../exchange/prompt-count";
import type { Exchange, GatewayResources, RouteView } from "../exchange/resources";
import { runShare, type ShareAsk, sharesOf } from "./run-share";

/** A sure answer that is escalated all the same: drawn before anything has left. */
export function drawForced(gw: GatewayResources, view: RouteView): boolean {
  return gw.shares.draw(sharesOf(view).forced_escalation);
}

/** A kept answer: what the target says to it, where it was drawn and not escalated by chance. */
export function drawKept(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
  kept: { count: PromptCount; line: LineKey },
): void {
  const { kept_also_target, forced_escalation } = sharesOf(view);
  if (!gw.shares.draw(kept_also_target)) return;
  const { pilot, target } = view.pair;
  begin(gw, x, view, {
    kind: "kept_also_target",
    propensity: kept_also_target * (1 - forced_escalation),
    count: kept.count,
    ways: [
      { model: pilot, line: kept.line },
      { model: target, line: lineOfNobody(gw, x) },
    ],
  });
}

/** A transferred answer: beside the target's own prefill; or, where chance escalated it, beside what the pilot says. */
export function drawEscalated(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
  carried: { count: PromptCount; line: LineKey; forced: boolean },
): void {
  const { escalated_also_native, forced_escalation } = sharesOf(view);
  const { count, forced } = carried;
  const { pilot, target } = view.pair;
  const transferred = { model: target, line: carried.line };
  if (forced) {
    const own = { model: pilot, line: lineOf(gw, x, view, "pilot", chainOf(gw, x, view, count)) };
    const ways: ShareAsk["ways"] = [own, transferred];
    begin(gw, x, view, { kind: "forced_escalation", propensity: forced_escalation, count, ways });
  } else if (gw.shares.draw(escalated_also_native)) {
    const ways: ShareAsk["ways"] = [transferred, { model: target, line: lineOfNobody(gw, x) }];
    begin(gw, x, view, { kind: "escalated_also_native", propensity: escalated_also_native, count, ways });
  }
}

/** The trace goes out once the share is known. */
function begin(gw: GatewayResources, x: Exchange, view: RouteView, ask: ShareAsk): void {
  x.trace.awaitShare(runShare(gw, x, view, ask));
}

/** A salt of this one copy: it finds nothing, and nothing finds what it leaves, so that measuring changes no later answer. */
function lineOfNobody(gw: GatewayResources, x: Exchange): LineKey {
  return { salt: gw.salts.mapped(x.tenant.id, `share ${x.traceId}`, "", ""), nativeSalt: null };
}
