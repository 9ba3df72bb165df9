import type { RequestTrace } from "@helm/contracts";
import type { Tenant } from "../config/access";
import { TraceBuilder } from "./trace-builder";
import { TraceOutbox } from "./trace-outbox";
import { TraceSampling } from "./trace-sampling";

export interface RecorderParts {
  /** Of ordinary requests. */
  rate: () => number;
  generation: () => number;
  development: boolean;
  sampling?: TraceSampling;
  outbox?: TraceOutbox;
  /** Told of every request, sampled or not, with its caller's `traceparent`; absent where nobody watches. */
  watch?: (trace: RequestTrace, traceparent: string | null) => void;
}

/** Every request makes one record; what of them is worth sending goes to the outbox. */
export class TraceRecorder {
  readonly outbox: TraceOutbox;
  private readonly sampling: TraceSampling;

  constructor(private readonly parts: RecorderParts) {
    this.outbox = parts.outbox ?? new TraceOutbox();
    this.sampling = parts.sampling ?? new TraceSampling(parts.rate);
  }

  begin(
    id: string,
    tenant: Tenant,
    endpoint: RequestTrace["endpoint"],
    asked = false,
    traceparent: string | null = null,
  ): TraceBuilder {
    return new TraceBuilder(id, tenant, endpoint, new Date(), asked, traceparent);
  }

  /** The request is over. A random share may still be under way: then the record goes out with what it brought. */
  finish(builder: TraceBuilder): void {
    builder.end();
    if (builder.waitsForShare) void builder.settle().then(() => this.record(builder));
    else this.record(builder);
  }

  private record(builder: TraceBuilder): void {
    const decided = this.sampling.decide(builder.facts);
    const { generation, development, watch } = this.parts;
    if (!decided && !watch) return;
    const from = { generation: generation(), development };
    const trace = builder.build({ kept: "rate", propensity: 1, ...decided, ...from });
    if (decided) this.outbox.push(trace);
    watch?.(trace, builder.traceparent);
  }
}
