import type { Db } from "@helm/db";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** One registry a process; read at /metrics. */
export function createMetrics(db: Db) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "helm_control_" });
  const requests = new Counter({
    name: "helm_control_requests_total",
    help: "HTTP requests answered, by method and status class.",
    labelNames: ["method", "status"],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: "helm_control_request_seconds",
    help: "Time to answer an HTTP request.",
    buckets: [0.005, 0.02, 0.05, 0.1, 0.3, 1, 3, 10],
    registers: [registry],
  });
  new Gauge({
    name: "helm_calibrations",
    help: "Calibrations by state.",
    labelNames: ["state"],
    registers: [registry],
    async collect() {
      this.reset();
      for (const row of await db.calibration.groupBy({ by: ["state"], _count: true }))
        this.set({ state: row.state }, row._count);
    },
  });
  new Gauge({
    name: "helm_config_generation",
    help: "Routing generation: desired, and the lowest acked and active one among nodes that were not revoked.",
    labelNames: ["kind"],
    registers: [registry],
    async collect() {
      const newest = await db.routingSnapshot.aggregate({ _max: { generation: true } });
      const nodes = await db.nodeState.aggregate({
        where: { node: { revokedAt: null } },
        _min: { ackedGeneration: true, activeGeneration: true },
      });
      this.set({ kind: "desired" }, newest._max.generation ?? 0);
      this.set({ kind: "acked" }, nodes._min.ackedGeneration ?? 0);
      this.set({ kind: "active" }, nodes._min.activeGeneration ?? 0);
    },
  });
  return { registry, requests, seconds };
}

export type Metrics = ReturnType<typeof createMetrics>;
