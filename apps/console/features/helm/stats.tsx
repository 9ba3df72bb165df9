import type { ReactNode } from "react";
import type { Overview } from "./use-helm-switch";

export function Stats({ overview }: { overview: Overview }) {
  const { hardware, pairs, tenants, configuration, gate, gateOn, developmentMode } = overview;
  const allowed = `${hardware.nodesAllowed} of ${hardware.nodesTotal} ${hardware.nodesTotal === 1 ? "node" : "nodes"} allowed`;
  // "0 of 1 allowed" would say that something was refused: in development mode there is nothing that could be.
  const unaccelerated =
    hardware.nodesTotal > 1 ? `${hardware.nodesTotal} nodes, none with an accelerator. ` : "";
  const developmentOnly = hardware.verdict === "none" && developmentMode;
  const nodes = (n: number) =>
    `${n} of ${configuration.nodesTotal} ${configuration.nodesTotal === 1 ? "node" : "nodes"}`;
  return (
    <dl className="mt-4 grid gap-x-6 gap-y-4 border-t border-line pt-4 sm:grid-cols-2 xl:grid-cols-4">
      <Stat
        name="Hardware"
        value={hardware.nodesTotal === 0 ? "No node yet" : developmentOnly ? "Development mode" : allowed}
      >
        {developmentOnly ? unaccelerated : null}
        {hardware.sentence}
      </Stat>
      <Stat name="Eligible pairs" value={`${pairs.eligible} of ${pairs.total}`}>
        gate at retention {gate.toFixed(2)}, on the {gateOn === "lower" ? "lower bound" : "point value"}
      </Stat>
      <Stat name="Tenants enabled" value={`${tenants.enabled} of ${tenants.total}`}>
        {tenants.names.length > 0 ? tenants.names.join(", ") : "every tenant is excluded"}
      </Stat>
      <Stat
        name="Configuration"
        value={configuration.generation === 0 ? "None yet" : `Generation ${configuration.generation}`}
      >
        acked on {nodes(configuration.ackedNodes)}, active on {configuration.activeNodes}; the route's pair is
        ready on {configuration.routableNow}
      </Stat>
    </dl>
  );
}

function Stat({ name, value, children }: { name: string; value: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-[0.8125rem] text-ink-soft">{name}</dt>
      <dd>
        <span className="block text-xl font-semibold tracking-tight">{value}</span>
        <span className="mt-0.5 block text-[0.8125rem] text-ink-soft">{children}</span>
      </dd>
    </div>
  );
}
