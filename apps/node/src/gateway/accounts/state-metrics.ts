import { Gauge } from "prom-client";
import type { GatewayResources } from "../exchange/resources";

/** What is held at this moment, read when somebody looks: after every request has ended all of it is zero but sessions. */
export function watchState(gw: GatewayResources): void {
  const gauge = (name: string, help: string, labelNames: string[], collect: (of: Gauge) => void) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [gw.metrics.registry],
      collect() {
        this.reset();
        collect(this);
      },
    });
  const gates = () => [...(gw.engine()?.gates ?? [])];
  gauge("helm_admission_reserved_bytes", "Bytes of cache promised to requests.", ["model"], (of) => {
    for (const [model, gate] of gates()) of.set({ model }, gate.reserved);
  });
  gauge("helm_admission_capacity_bytes", "Bytes of cache that can be promised.", ["model"], (of) => {
    for (const [model, gate] of gates()) of.set({ model }, gate.capacity);
  });
  gauge("helm_admission_waiting", "Requests that wait for room.", ["model"], (of) => {
    for (const [model, gate] of gates()) of.set({ model }, gate.waiting);
  });
  gauge("helm_requests_running", "Requests under way.", [], (of) => of.set(gw.serving.report().running));
  gauge("helm_sessions", "Conversations that are remembered.", [], (of) => of.set(gw.sessions.size));
}
