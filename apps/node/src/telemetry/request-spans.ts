import type { RequestTrace, TraceLeg } from "@helm/contracts";
import {
  type Attributes,
  context,
  type Context as OtelContext,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";

const OPERATIONS: Record<RequestTrace["endpoint"], string> = {
  "/v1/chat/completions": "chat",
  "/v1/completions": "text_completion",
  "/v1/helm/escalate": "chat",
  "/v1/helm/return": "chat",
};

/**
 * A finished request as spans, by OpenTelemetry's conventions for generative AI: the request, the judge, each call of an
 * engine, and the transfer. Made afterwards from the request's record, so that nothing is done while it is served; the
 * record's texts are not looked at.
 */
export function writeSpans(tracer: Tracer, record: RequestTrace, parent: OtelContext): void {
  const begun = Date.parse(record.at);
  const at = (ms: number) => begun + ms;
  const operation = OPERATIONS[record.endpoint];
  const asked = record.route ?? record.served_by;
  const common = { "gen_ai.operation.name": operation, "gen_ai.provider.name": "helm" };
  const request = tracer.startSpan(
    asked === null ? operation : `${operation} ${asked}`,
    {
      kind: SpanKind.SERVER,
      startTime: at(0),
      attributes: { ...common, ...requestAttributes(record, asked) },
    },
    parent,
  );
  noteFault(request, record.error_code);
  const inside = trace.setSpan(parent, request);
  const child = (name: string, from: number, to: number, kind: SpanKind, attributes: Attributes) => {
    const span = tracer.startSpan(name, { kind, startTime: at(from), attributes }, inside);
    return { span, end: () => span.end(at(Math.max(from, to))) };
  };
  for (const leg of record.legs) {
    const name = leg.role === "stage" ? `helm.stage ${leg.model}` : `${operation} ${leg.model}`;
    const call = child(name, leg.started_ms, endOf(leg, record), SpanKind.CLIENT, {
      ...common,
      ...legAttributes(leg),
    });
    if (leg.ended_by !== null && leg.ended_by !== "not_needed") noteFault(call.span, leg.ended_by);
    call.end();
  }
  const held = record.judge && judgedBetween(record);
  if (record.judge && held)
    child("helm.judge", ...held, SpanKind.INTERNAL, judgeAttributes(record.judge)).end();
  const moving = transferBetween(record);
  if (moving) {
    const span = child("helm.transfer", ...moving, SpanKind.INTERNAL, transferAttributes(record));
    if (record.transfer === "fallback") noteFault(span.span, record.reason ?? "ENGINE_ERROR");
    span.end();
  }
  request.end(at(record.total_ms));
}

function requestAttributes(record: RequestTrace, asked: string | null): Attributes {
  const answering = record.legs.find((leg) => leg.answered);
  return given({
    "gen_ai.request.model": asked,
    "gen_ai.response.model": record.served_by,
    "gen_ai.usage.input_tokens": record.tokens.prompt ?? answering?.prompt_tokens,
    "gen_ai.usage.output_tokens": answering?.completion_tokens,
    "http.request.method": "POST",
    "http.response.status_code": record.status,
    "url.path": record.endpoint,
    "helm.trace_id": record.id,
    "helm.tenant.id": record.tenant_id,
    "helm.route": record.route,
    "helm.pair.id": record.pair_id,
    "helm.generation": record.generation,
    "helm.decision": record.decision,
    "helm.reason": record.reason,
    "helm.transfer": record.transfer,
    "helm.streamed": record.streamed,
    "helm.queue_ms": record.queue_ms,
    "helm.first_token_ms": record.first_token_ms,
    "helm.admission.shortfall_bytes": record.shortfall?.shortfall_bytes,
  });
}

function legAttributes(leg: TraceLeg): Attributes {
  return given({
    "gen_ai.request.model": leg.model,
    "gen_ai.response.model": leg.model,
    "gen_ai.usage.input_tokens": leg.prompt_tokens,
    "gen_ai.usage.output_tokens": leg.completion_tokens,
    "helm.leg.role": leg.role,
    "helm.leg.answered": leg.answered,
    "helm.leg.first_token_ms": leg.first_token_ms === null ? null : leg.first_token_ms - leg.started_ms,
    "helm.engine.queue_ms": leg.engine_queue_ms,
    "helm.engine.prefill_ms": leg.engine_prefill_ms,
  });
}

function judgeAttributes(judge: NonNullable<RequestTrace["judge"]>): Attributes {
  return given({
    "helm.judge.version": judge.version,
    "helm.judge.measure": judge.measure,
    "helm.judge.score": judge.score,
    "helm.judge.threshold": judge.threshold,
    "helm.judge.escalate": judge.escalate,
    "helm.judge.label": judge.label,
  });
}

function transferAttributes({ steps, tokens, pair_id, transfer }: RequestTrace): Attributes {
  return given({
    "helm.transfer": transfer,
    "helm.pair.id": pair_id,
    "helm.transfer.tokens_moved": tokens.moved,
    "helm.transfer.tail_tokens": tokens.tail,
    "helm.transfer.stage_ms": steps?.stage_ms,
    "helm.transfer.map_ms": steps?.map_ms,
    "helm.transfer.install_ms": steps?.install_ms,
    "helm.transfer.tail_ms": steps?.tail_ms,
  });
}

/** From the pilot's first token to what came of it: its end, or the leg that took over. */
function judgedBetween(record: RequestTrace): [number, number] | null {
  const at = record.legs.findIndex((leg) => leg.role === "pilot");
  const pilot = record.legs[at];
  if (!pilot || pilot.first_token_ms === null) return null;
  const next = record.legs[at + 1]?.started_ms ?? Number.POSITIVE_INFINITY;
  return [pilot.first_token_ms, Math.min(next, endOf(pilot, record))];
}

/** From staging to the target's first token; null where nothing was staged. */
function transferBetween(record: RequestTrace): [number, number] | null {
  const at = record.legs.findIndex((leg) => leg.role === "stage");
  const stage = record.legs[at];
  if (!stage) return null;
  const target = record.legs.slice(at + 1).find((leg) => leg.role === "target");
  return [stage.started_ms, target?.first_token_ms ?? endOf(stage, record)];
}

function endOf(leg: TraceLeg, record: RequestTrace): number {
  return leg.ended_ms ?? record.total_ms;
}

function noteFault(span: Span, code: string | null): void {
  if (code === null) return;
  span.setAttribute("error.type", code);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function given(attributes: Record<string, string | number | boolean | null | undefined>): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value != null)) as Attributes;
}

/** The caller's own trace, where it sent a `traceparent` that can be read. */
export function parentOf(traceparent: string | null): OtelContext | null {
  const match = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent ?? "");
  if (!match?.[1] || !match[2] || /^0+$/.test(match[1]) || /^0+$/.test(match[2])) return null;
  return trace.setSpanContext(context.active(), {
    traceId: match[1],
    spanId: match[2],
    traceFlags: Number.parseInt(match[3] ?? "0", 16) & 1,
    isRemote: true,
  });
}
