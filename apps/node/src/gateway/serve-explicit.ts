import { brokenOff } from "../engine/engine-client";
import { answerBody } from "../escalation/leg-body";
import { NamedLegFacts } from "../trace/named-leg-facts";
import { account } from "./account";
import { admit, countPrompt } from "./admit";
import { helmHeaders, type Outcome } from "./helm-headers";
import { nativeLine } from "./lines";
import type { Exchange, GatewayResources } from "./resources";
import { roomFor } from "./route-defaults";

/** The completions endpoint's own default where a body names no max_tokens. */
const COMPLETION_MAX_TOKENS = 16;

/** A served model by name: the request goes through as it is, under the tenant's salt, and nothing is decided. */
export async function serveExplicit(gw: GatewayResources, x: Exchange, model: string): Promise<void> {
  const { endpoint } = x.generation;
  const chat = endpoint === "/v1/chat/completions";
  const count = await countPrompt(x, model);
  const fallback = chat ? roomFor(x, [model], count, defaultMaxTokens(gw)) : COMPLETION_MAX_TOKENS;
  const maxTokens = x.generation.maxTokens ?? fallback;
  await admit(gw, x, model, count, maxTokens);
  const caller =
    x.generation.maxTokens === null ? { ...x.generation.body, max_tokens: maxTokens } : x.generation.body;
  const body = answerBody(caller, model, nativeLine(gw, x));
  const asked = performance.now();
  const answer = await x.engine.client.raw(endpoint, body, {
    signal: x.signal,
    idleMs: gw.limits.firstTokenMs,
  });
  const leg = new NamedLegFacts(model, asked);
  x.trace.leg("named", leg);
  x.trace.answersWith(leg);
  const outcome: Outcome = { servedBy: model, decision: "explicit", reason: null, transfer: "none" };
  const headers = helmHeaders(outcome, x.traceId, gw.development);
  x.writer.start(answer.status, {
    ...headers,
    "content-type": answer.contentType,
    "cache-control": "no-cache",
  });
  let firstTokenMs: number | null = null;
  try {
    for await (const part of answer.body) {
      firstTokenMs ??= leg.firstToken();
      await x.writer.write(part as Uint8Array);
    }
  } catch (error) {
    leg.ended("broken");
    throw brokenOff(error);
  }
  leg.ended(null);
  x.writer.end();
  if (answer.status < 400) {
    account(gw, x, { route: null, outcome, tokensMoved: 0, firstTokenMs, transferMs: null });
  }
}

/** What a request without a route falls back on: the default route's bound. */
function defaultMaxTokens(gw: GatewayResources): number {
  const first = gw.routing.routes().values().next().value;
  return first?.route.default_max_tokens ?? gw.limits.fallbackMaxTokens;
}
