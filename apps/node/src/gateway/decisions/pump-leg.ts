import type { HelmAnswer, TransferReport } from "@helm/contracts";
import type { Chunk } from "../../engine/chunk";
import type { Leg } from "../../escalation/leg";
import { account, helmAnswer } from "../accounts/account";
import { noteStarted } from "../admission/admit";
import type { AnswerSink } from "../answers/answer-sink";
import { helmHeaders, type Outcome } from "../answers/helm-headers";
import type { Exchange, GatewayResources, RouteView } from "../exchange/resources";

export interface Pumped {
  leg: Leg;
  route: RouteView;
  /** Chunks of this leg that were read before. */
  held?: readonly Chunk[];
  /** Asked when the first bytes may leave, and again at the end, when the engine has said everything. */
  outcome: (report: TransferReport | null, atEnd: boolean) => Outcome;
  judge: HelmAnswer["judge"];
  pilotMs: number | null;
  stageMs: number | null;
}

/** Carries a leg's answer to the client. Throws EngineError; the sink tells whether anything has left by then. */
export async function pumpLeg(
  gw: GatewayResources,
  x: Exchange,
  sink: AnswerSink,
  pumped: Pumped,
): Promise<void> {
  const { leg, held = [], outcome } = pumped;
  x.trace.answersWith(leg);
  await leg.awaitFirstToken();
  noteStarted(x);
  sink.begin(helmHeaders(outcome(leg.report, false), x.traceId, gw.development));
  const write = (chunk: Chunk) => {
    x.trace.heard(chunk);
    return sink.write(chunk);
  };
  for (const chunk of held) await write(chunk);
  for (let chunk = await leg.next(); chunk !== null; chunk = await leg.next()) await write(chunk);
  const final = outcome(leg.report, true);
  const waited = leg.firstTokenMs === null ? null : leg.firstTokenMs + (pumped.stageMs ?? 0);
  const answer = helmAnswer(x, final, { ...pumped, report: leg.report, firstTokenMs: waited });
  await sink.end(helmHeaders(final, x.traceId, gw.development), answer);
  account(gw, x, {
    route: pumped.route,
    outcome: final,
    tokensMoved: answer.tokens_moved ?? 0,
    firstTokenMs: waited,
    report: leg.report,
    stageMs: pumped.stageMs,
    transferMs: final.transfer === "transferred" ? waited : null,
  });
}
