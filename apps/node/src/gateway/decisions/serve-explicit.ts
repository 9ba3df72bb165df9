import { EngineError } from "../../engine/engine-error";
import type { ByteSink } from "../../engine/pass-through";
import { answerBody } from "../../escalation/leg-body";
import { NamedLegFacts } from "../../trace/named-leg-facts";
import { account } from "../accounts/account";
import { noteEngineAnswer } from "../accounts/note-failure";
import { admit, admitBound, countPrompt, noteStarted } from "../admission/admit";
import { roomFor } from "../admission/route-defaults";
import { whileOverloaded } from "../admission/while-overloaded";
import { helmHeaders, type Outcome } from "../answers/helm-headers";
import { boundPrompt } from "../bodies/bound-prompt";
import { nativeLine } from "../conversations/lines";
import { isOverloadStatus } from "../errors/gateway-error";
import type { Exchange, GatewayResources } from "../exchange/resources";

/** The completions endpoint's own default where a body names no max_tokens. */
const COMPLETION_MAX_TOKENS = 16;

/** A served model by name: the request goes through as it is, under the tenant's salt, and nothing is decided. */
export async function serveExplicit(gw: GatewayResources, x: Exchange, model: string): Promise<void> {
  const { endpoint } = x.generation;
  const maxTokens = (await admitUncounted(gw, x, model)) ?? (await admitCounted(gw, x, model));
  const caller =
    x.generation.maxTokens === null ? { ...x.generation.body, max_tokens: maxTokens } : x.generation.body;
  const body = answerBody(caller, model, nativeLine(gw, x));
  const leg = new NamedLegFacts(model, performance.now());
  const outcome: Outcome = { servedBy: model, decision: "explicit", reason: null, transfer: "none" };
  let status = 0;
  let firstTokenMs: number | null = null;
  const sink: ByteSink = {
    start: (answered, contentType, contentLength) => {
      status = answered;
      if (isOverloadStatus(status))
        throw new EngineError({ kind: "http", status, body: null }, "the engine has no room yet");
      x.trace.leg("named", leg);
      x.trace.answersWith(leg);
      x.writer.start(status, {
        ...helmHeaders(outcome, x.traceId, gw.development),
        "content-type": contentType,
        "cache-control": "no-cache",
        // A body of known length is one write less to the client.
        ...(contentLength === null ? {} : { "content-length": contentLength }),
      });
    },
    write: (part) => {
      if (firstTokenMs === null) {
        firstTokenMs = leg.firstToken();
        noteStarted(x);
      }
      return x.writer.push(part);
    },
    drained: () => x.writer.drained(),
  };
  try {
    const limits = { signal: x.signal, idleMs: gw.limits.firstTokenMs };
    await whileOverloaded(gw, x, model, () => x.engine.client.pass(endpoint, body, sink, limits));
  } catch (error) {
    leg.ended("broken");
    throw error;
  }
  leg.ended(null);
  x.writer.end();
  if (status >= 400) noteEngineAnswer(gw, x.trace, status);
  else account(gw, x, { route: null, outcome, tokensMoved: 0, firstTokenMs, transferMs: null });
}

/** The engine is not asked to count what fits however it is counted; gives the answer's bound, null where it must be. */
async function admitUncounted(gw: GatewayResources, x: Exchange, model: string): Promise<number | null> {
  // A ticket keeps a place for an exact size.
  const bound = x.ticket === null ? boundPrompt(x.generation, x.engine.templates.get(model)) : null;
  if (bound === null) return null;
  const maxTokens = x.generation.maxTokens ?? defaultFor(gw, x);
  const longest = x.engine.models.get(model)?.max_model_len ?? Number.POSITIVE_INFINITY;
  // A prompt that may leave less than the default has to be counted, or the default would be another one.
  if (x.generation.maxTokens === null && Math.max(...bound) + maxTokens > longest) return null;
  return (await admitBound(gw, x, model, bound, maxTokens)) ? maxTokens : null;
}

async function admitCounted(gw: GatewayResources, x: Exchange, model: string): Promise<number> {
  const chat = x.generation.endpoint === "/v1/chat/completions";
  const count = await countPrompt(x, model);
  const fallback = chat ? roomFor(x, [model], count, defaultFor(gw, x)) : COMPLETION_MAX_TOKENS;
  const maxTokens = x.generation.maxTokens ?? fallback;
  // It may have waited by a bound already; together it waits no longer than any other.
  const leftMs = Math.max(0, gw.limits.admissionMs - (performance.now() - x.startedAt));
  await admit(gw, x, model, count, maxTokens, leftMs);
  return maxTokens;
}

function defaultFor(gw: GatewayResources, x: Exchange): number {
  return x.generation.endpoint === "/v1/chat/completions" ? defaultMaxTokens(gw) : COMPLETION_MAX_TOKENS;
}

/** What a request without a route falls back on: the default route's bound. */
function defaultMaxTokens(gw: GatewayResources): number {
  const first = gw.routing.routes().values().next().value;
  return first?.route.default_max_tokens ?? gw.limits.fallbackMaxTokens;
}
