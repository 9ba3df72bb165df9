import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  kind: number;
  startMs: number;
  endMs: number;
  attributes: Record<string, unknown>;
  failed: boolean;
}

interface OtlpValue {
  stringValue?: string;
  intValue?: number | string;
  doubleValue?: number;
  boolValue?: boolean;
}

/** TEST DOUBLE. Takes OTLP over HTTP in JSON, as a collector would, and keeps what came. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  resource: Record<string, unknown> = {};
  /** Everything that was received, as it came. */
  text = "";
  private readonly server: Server;

  private constructor() {
    this.server = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const text = Buffer.concat(parts).toString();
      this.text += text;
      for (const group of JSON.parse(text).resourceSpans) {
        this.resource = valuesOf(group.resource.attributes);
        for (const scope of group.scopeSpans) this.spans.push(...scope.spans.map(readSpan));
      }
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  }

  static async start(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    await new Promise<void>((resolve) => receiver.server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  get tracesUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1/traces`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the wire's own shape
function readSpan(span: any): ReceivedSpan {
  return {
    name: span.name,
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId || null,
    kind: span.kind,
    startMs: Number(BigInt(span.startTimeUnixNano) / 1_000n) / 1_000,
    endMs: Number(BigInt(span.endTimeUnixNano) / 1_000n) / 1_000,
    attributes: valuesOf(span.attributes),
    failed: span.status?.code === 2,
  };
}

function valuesOf(list: { key: string; value: OtlpValue }[] = []): Record<string, unknown> {
  return Object.fromEntries(
    list.map(({ key, value }) => [
      key,
      value.stringValue ??
        (value.intValue === undefined ? undefined : Number(value.intValue)) ??
        value.doubleValue ??
        value.boolValue,
    ]),
  );
}
