"use client";

import Link from "next/link";
import { Badge } from "../../ui/badge";
import { Facts } from "../../ui/card";
import { HostHead } from "./host-words";
import { MemoryLine } from "./memory-card";
import { NodeOrders } from "./node-orders";
import { type Node, refusals } from "./node-words";
import { ReadinessList } from "./readiness-list";
import { SERVING_WORDS } from "./reason-words";
import { HealthBadge, ServingBadge } from "./serving-badge";

export function NodeCard({ node }: { node: Node }) {
  const { readiness, generation, access } = node;
  const serving = readiness?.serving;
  const models = readiness?.engine.models ?? [];
  return (
    <li className="rounded-lg border border-line p-4">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <HostHead host={node} href={`/nodes/${node.id}`}>
          <HealthBadge node={node} />
          <ServingBadge node={node} />
        </HostHead>
        <NodeOrders node={node} />
      </div>
      <NodeTroubles node={node} />
      <ParkedFor runs={node.orders.parkedFor} drained={node.orders.drain} />
      <div className="mt-3 grid gap-x-8 lg:grid-cols-2">
        <Facts
          rows={[
            ["Generation", <Generation key="g" {...generation} />],
            [
              "Access list",
              access.acked === access.desired
                ? `version ${access.desired}, confirmed`
                : `version ${access.desired}, confirmed ${access.acked}`,
            ],
          ]}
        />
        <Facts
          rows={[
            [
              "Requests",
              serving ? `${SERVING_WORDS[serving.state]}; ${serving.running} under way` : "not reported",
            ],
            [
              "Engine",
              `${readiness?.engine.name ?? node.engine ?? "unknown"}${models.length > 0 ? `, serving ${models.map(({ id }) => id).join(" and ")}` : ""}`,
            ],
            ["Memory", <MemoryLine key="m" memory={readiness?.memory} />],
          ]}
        />
      </div>
      <h4 className="mt-3 mb-1 font-medium">Readiness by pair</h4>
      <ReadinessList pairs={readiness?.pairs ?? []} engineServes={readiness?.engine.healthy ?? false} />
      <Link
        href={`/nodes/${node.id}`}
        className="mt-2 inline-block min-h-6 font-medium underline underline-offset-4"
      >
        Everything about {node.name}
      </Link>
    </li>
  );
}

/** The calibrations that have its memory, and what becomes of it when they end. */
export function ParkedFor({ runs, drained }: { runs: string[]; drained: boolean }) {
  if (runs.length === 0) return null;
  return (
    <p className="mt-3 rounded-lg bg-warn-wash px-3 py-2 text-warn-ink">
      Parked for{" "}
      {runs.map((id, at) => (
        <span key={id}>
          {at > 0 ? " and " : null}
          <Link href={`/calibrations/${id}`} className="font-medium underline underline-offset-4">
            {runs.length > 1 ? `calibration ${at + 1}` : "a calibration"}
          </Link>
        </span>
      ))}
      .{" "}
      {drained
        ? "It stays drained when that ends: somebody drained it."
        : "It comes back by its canary when that ends."}
    </p>
  );
}

/** What the node refused, what it found damaged, why no engine serves, and a canary that failed. */
export function NodeTroubles({ node }: { node: Node }) {
  const { remarks, serving, engine } = node.readiness ?? {};
  const warnings = [...(engine?.why_not ? [engine.why_not] : []), ...(remarks ?? [])];
  const failed = serving?.canary && !serving.canary.ok ? serving.canary : null;
  const bad = [
    ...refusals(node),
    ...(failed
      ? [`Its canary failed: ${failed.reason ?? "no reason given"}. It is tried again until one passes.`]
      : []),
  ];
  return (
    <>
      {bad.map((words) => (
        <p
          key={words}
          role="alert"
          className="mt-3 rounded-lg bg-bad-wash px-3 py-2 text-bad-ink [overflow-wrap:anywhere]"
        >
          {words}
        </p>
      ))}
      {warnings.map((words) => (
        <p
          key={words}
          className="mt-3 rounded-lg bg-warn-wash px-3 py-2 text-warn-ink [overflow-wrap:anywhere]"
        >
          {words}
        </p>
      ))}
    </>
  );
}

export function Generation({ desired, acked, active }: { desired: number; acked: number; active: number }) {
  const settled = desired === acked && desired === active;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
      <span className="tabular-nums">
        desired {desired}, acked {acked}, active {active}
      </span>
      <Badge tone={settled ? "good" : "warn"} shape={settled ? "check" : "dot"}>
        {settled ? "Settled" : "On its way"}
      </Badge>
    </span>
  );
}
