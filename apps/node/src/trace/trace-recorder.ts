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
}

/** Every request makes one record; what of them is worth sending goes to the outbox. */
export class TraceRecorder {
  readonly outbox: TraceOutbox;
  private readonly sampling: TraceSampling;

  constructor(private readonly parts: RecorderParts) {
    this.outbox = parts.outbox ?? new TraceOutbox();
    this.sampling = parts.sampling ?? new TraceSampling(parts.rate);
  }

  begin(id: string, tenant: Tenant, endpoint: RequestTrace["endpoint"], asked = false): TraceBuilder {
    return new TraceBuilder(id, tenant, endpoint, new Date(), asked);
  }

  /** The request is over. A random share may still be under way: then the record goes out with what it brought. */
  finish(builder: TraceBuilder): void {
    builder.end();
    if (builder.waitsForShare) void builder.settle().then(() => this.record(builder));
    else this.record(builder);
  }

  private record(builder: TraceBuilder): void {
    const decided = this.sampling.decide(builder.facts);
    if (!decided) return;
    const { generation, development } = this.parts;
    this.outbox.push(builder.build({ ...decided, generation: generation(), development }));
  }
}
