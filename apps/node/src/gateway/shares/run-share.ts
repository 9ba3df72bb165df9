import type { Reservation } from "@helm/admission";
import { NO_SHARES, type ShareKind, type TraceShare } from "@helm/contracts";
import { cacheBytes } from "../../engine/engine-facts";
import { askGreedyCopy, COPY_TOKENS, compareCopies, type GreedyCopy } from "../../escalation/greedy-copy";
import type { LineKey } from "../../escalation/leg-body";
import { routeMaxTokens } from "../admission/route-defaults";
import type { PromptCount } from "../exchange/prompt-count";
import type { Exchange, GatewayResources, RouteView } from "../exchange/resources";

/** One way to answer the request: by a model, from a line. */
export interface Way {
  model: string;
  line: LineKey;
}

export interface ShareAsk {
  kind: ShareKind;
  /** The probability with which this request was drawn. */
  propensity: number;
  count: PromptCount;
  /** What was answered, and the other way. */
  ways: [Way, Way];
}

const COPY_MS = 30_000;
const LOOK_MS = 25;

/**
 * Answers a drawn request another way as well, so that what the judge and the transfer do can be measured. It runs when the
 * caller has its answer, only while nobody waits and there is room, and gives up as soon as somebody has to wait. Null
 * where it could not be had; never rejects.
 */
export async function runShare(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
  ask: ShareAsk,
): Promise<TraceShare | null> {
  const count = (result: string) => gw.metrics.shares.inc({ kind: ask.kind, result });
  const end = gw.shares.enter();
  if (!end) {
    count("no_room");
    return null;
  }
  try {
    const copies: GreedyCopy[] = [];
    for (const way of ask.ways) {
      const copy = await askCopy(x, view, { way, count: ask.count, end });
      if (typeof copy === "string") {
        count(copy);
        return null;
      }
      copies.push(copy);
    }
    count("done");
    return describe(view, ask, copies);
  } catch (error) {
    count(end.signal.aborted ? "gave_way" : "failed");
    x.log.debug({ err: error, share: ask.kind }, "a random share was not had");
    return null;
  } finally {
    gw.shares.leave(end);
  }
}

async function askCopy(
  x: Exchange,
  view: RouteView,
  ask: { way: Way; count: PromptCount; end: AbortController },
): Promise<GreedyCopy | "no_room" | "no_token_ids"> {
  const { way, count, end } = ask;
  const maxTokens = Math.min(COPY_TOKENS, routeMaxTokens(x, view, count));
  const room = await idleRoom(x, way.model, count, maxTokens);
  if (!room) return "no_room";
  const look = setInterval(() => {
    if (somebodyWaits(x)) end.abort();
  }, LOOK_MS);
  try {
    const copy = await askGreedyCopy(x.engine.client, {
      endpoint: x.generation.endpoint,
      caller: x.generation.body,
      ...way,
      maxTokens,
      signal: end.signal,
      limitMs: COPY_MS,
      began: (leg) => x.trace.leg("share", leg),
    });
    return copy ?? "no_token_ids";
  } finally {
    clearInterval(look);
    room.release();
  }
}

/** Probabilities that hold for a route now. */
export function sharesOf(view: RouteView) {
  return view.route.shares ?? NO_SHARES;
}

/** Room while nobody waits, and half of the whole stays free for whoever comes. */
async function idleRoom(
  x: Exchange,
  model: string,
  count: PromptCount,
  maxTokens: number,
): Promise<Reservation | null> {
  const gate = x.engine.gates.get(model);
  const memory = x.engine.memory.models[model];
  if (!gate || !memory || somebodyWaits(x)) return null;
  const bytes = cacheBytes(memory, count.tokens, maxTokens, 1);
  if (gate.available - bytes < gate.capacity / 2) return null;
  const admission = await gate.admit({ tenant: x.tenant.id, bytes, deadlineMs: 0, keepsPlace: false });
  return admission.outcome === "admitted" ? admission.reservation : null;
}

function somebodyWaits(x: Exchange): boolean {
  return [...x.engine.gates.values()].some((gate) => gate.waiting > 0);
}

function describe(view: RouteView, ask: ShareAsk, [answered, other]: GreedyCopy[]): TraceShare | null {
  if (!answered || !other) return null;
  const { kind, propensity, ways } = ask;
  const byTarget = ways[1].model === view.pair.target;
  return {
    kind,
    propensity,
    positions: compareCopies(answered.tokens, other.tokens),
    first_token_agrees: answered.tokens[0] === other.tokens[0],
    target_mean_loglik: byTarget ? other.meanLoglik : null,
    first_token_ms: kind === "escalated_also_native" ? other.firstTokenMs : null,
  };
}
