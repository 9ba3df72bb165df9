import type { HelmAnswer } from "@helm/contracts";
import { Counter, Gauge, Histogram, Registry } from "prom-client";

const MOST_TENANTS = 100;

/** What users can watch, in Prometheus' words. */
export class GatewayMetrics {
  readonly registry = new Registry();
  private readonly tenants = new Set<string>();

  readonly requests = this.counter("helm_requests_total", "Answered requests.", [
    "tenant",
    "route",
    "served_by",
  ]);
  readonly escalations = this.counter("helm_escalations_total", "Requests that went from pilot to target.", [
    "reason",
    "pair",
  ]);
  readonly transfers = this.counter("helm_transfer_total", "Escalations by what became of the cache.", [
    "pair",
    "result",
  ]);
  readonly fallbacks = this.counter(
    "helm_transfer_fallback_total",
    "Native prefills in place of a transfer.",
    ["reason"],
  );
  readonly avoidedTokens = this.counter(
    "helm_prefill_avoided_tokens_total",
    "Prompt tokens that the target did not have to compute.",
    [],
  );
  readonly lostPrefixHits = this.counter(
    "helm_lost_prefix_hit_tokens_total",
    "Prompt tokens that a model held under its tenant's own salt and that a mapped line did not find.",
    ["pair"],
  );
  readonly shares = this.counter(
    "helm_shares_total",
    "Requests that chance drew to be answered another way as well, by what became of it.",
    ["kind", "result"],
  );
  readonly alarms = this.counter(
    "helm_alarms_total",
    "Things that must not happen: NO_EVIDENCE, a pilot's answer without log-probabilities.",
    ["code"],
  );
  readonly admission = this.counter("helm_admission_total", "Requests at the door, by outcome.", ["outcome"]);
  readonly errors = this.counter("helm_request_errors_total", "Requests answered with an error.", [
    "status",
    "code",
  ]);
  readonly transferSeconds = this.histogram(
    "helm_transfer_seconds",
    "Staging to the target's first token.",
    [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5],
  );
  private readonly judgeScore = this.histogram(
    "helm_judge_score",
    "Probability that the judge's table gave to pilot answers, of its label.",
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99],
  );
  private readonly judgeLogprob = this.histogram(
    "helm_judge_mean_logprob",
    "Mean token log-probability of pilot answers, judged by a table or by bounds.",
    [-5, -4, -3, -2.5, -2, -1.5, -1, -0.75, -0.5, -0.25, -0.1, -0.05, -0.01],
  );
  readonly shortfall = this.histogram(
    "helm_admission_shortfall_bytes",
    "Bytes missing when a request was refused.",
    [1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10],
  );
  readonly generation = new Gauge({
    name: "helm_config_generation",
    help: "Configuration generation.",
    labelNames: ["kind"],
    registers: [this.registry],
  });

  /** Named as Prometheus' own clients name it. */
  readonly memory = new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory of this gateway.",
    registers: [this.registry],
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });

  judged(judge: HelmAnswer["judge"]): void {
    if (!judge) return;
    this.judgeLogprob.observe(judge.mean_logprob);
    if (judge.score != null) this.judgeScore.observe(judge.score);
  }

  /** A tenant's label; beyond the cap tenants share one, so that labels stay bounded. */
  tenantLabel(id: string): string {
    if (this.tenants.has(id)) return id;
    if (this.tenants.size >= MOST_TENANTS) return "other";
    this.tenants.add(id);
    return id;
  }

  private counter(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  private histogram(name: string, help: string, buckets: number[]): Histogram {
    return new Histogram({ name, help, buckets, registers: [this.registry] });
  }
}
