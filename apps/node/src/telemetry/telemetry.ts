import type { RequestTrace } from "@helm/contracts";

export interface TelemetrySettings {
  /** Where OTLP over HTTP is taken, with its path. */
  tracesUrl: string;
  serviceName: string;
  nodeId: string;
  version: string;
}

export interface Telemetry {
  record(trace: RequestTrace, traceparent: string | null): void;
  /** Sends what is left, within its own time limit. */
  stop(): Promise<void>;
}

/**
 * Spans of every request to an OTLP receiver. OpenTelemetry's SDK and exporter are loaded here and only then: a node
 * without a receiver never reads them.
 */
export async function startTelemetry(settings: TelemetrySettings): Promise<Telemetry> {
  const [api, sdk, exporter, resources, spans] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace-node"),
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("@opentelemetry/resources"),
    import("./request-spans"),
  ]);
  // A request without a trace of its caller's has the id that its answer shows.
  const ids = new sdk.RandomIdGenerator();
  let traceId: string | null = null;
  const provider = new sdk.BasicTracerProvider({
    resource: resources.detectResources({ detectors: [resources.envDetector] }).merge(
      resources.resourceFromAttributes({
        "service.name": settings.serviceName,
        "service.version": settings.version,
        "service.instance.id": settings.nodeId,
      }),
    ),
    idGenerator: {
      generateTraceId: () => traceId ?? ids.generateTraceId(),
      generateSpanId: () => ids.generateSpanId(),
    },
    spanProcessors: [new sdk.BatchSpanProcessor(new exporter.OTLPTraceExporter({ url: settings.tracesUrl }))],
  });
  const tracer = provider.getTracer("helm-node", settings.version);
  return {
    record: (trace, traceparent) => {
      const parent = spans.parentOf(traceparent);
      traceId = trace.id;
      spans.writeSpans(tracer, trace, parent ?? api.ROOT_CONTEXT);
      traceId = null;
    },
    stop: () => provider.shutdown(),
  };
}
