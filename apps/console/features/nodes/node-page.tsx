"use client";

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { parseAsStringLiteral, useQueryState } from "nuqs";
import { PagedTable } from "../../api/query-table";
import { QueryView } from "../../api/query-view";
import { type Outputs, useTRPC, useTRPCClient } from "../../api/trpc";
import { Badge } from "../../ui/badge";
import { Card, Facts, PageHeader } from "../../ui/card";
import type { Column } from "../../ui/data-table";
import { SelectField } from "../../ui/field";
import { Empty } from "../../ui/states";
import { PlacementList } from "../placement/placement-list";
import { TimeAgo } from "../preferences/time";
import { command } from "../shell/commands";
import { useNameLeaf } from "../shell/leaf";
import { Terminal } from "../shell/terminal-card";
import { Hardware } from "./host-words";
import { MemoryTable } from "./memory-card";
import { Generation, NodeTroubles, ParkedFor } from "./node-card";
import { NodeOrders } from "./node-orders";
import type { Node } from "./node-words";
import { ReadinessList } from "./readiness-list";
import { SERVING_WORDS } from "./reason-words";
import { HealthBadge, ServingBadge } from "./serving-badge";

export function NodePage({ id }: { id: string }) {
  const trpc = useTRPC();
  const node = useQuery(trpc.node.get.queryOptions({ id }, { refetchInterval: 15_000 }));
  return (
    <QueryView query={node} label="Loading the node" rows={6} back={{ href: "/nodes", name: "All nodes" }}>
      {(data) => <NodeDetail node={data} />}
    </QueryView>
  );
}

function NodeDetail({ node }: { node: Node }) {
  useNameLeaf(node.name);
  const { readiness, generation, access, orders } = node;
  const serving = readiness?.serving;
  return (
    <>
      <PageHeader
        title={node.name}
        badge={
          <>
            {node.revokedAt ? (
              <Badge tone="bad" shape="cross">
                Revoked
              </Badge>
            ) : node.connected ? (
              <Badge tone="good" shape="dot">
                Connected
              </Badge>
            ) : (
              <Badge tone="bad" shape="slash">
                Not connected
              </Badge>
            )}
            <HealthBadge node={node} />
            <ServingBadge node={node} />
            {node.development ? (
              <Badge tone="warn" shape="alert">
                Development
              </Badge>
            ) : null}
          </>
        }
        lead={
          serving
            ? `This node ${SERVING_WORDS[serving.state]}.`
            : "This node has not said yet whether it takes requests."
        }
        actions={node.revokedAt ? undefined : <NodeOrders node={node} />}
      />
      <NodeTroubles node={node} />
      <ParkedFor runs={orders.parkedFor} drained={orders.drain} />
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Card title="Configuration" hint="What it was told, what it confirmed and what it serves by.">
          <Facts
            rows={[
              ["Generation", <Generation key="g" {...generation} />],
              ["Access list", `desired ${access.desired}, confirmed ${access.acked}`],
              [
                "Orders",
                orders.revision === 0 ? (
                  "none yet"
                ) : (
                  <span key="o">
                    {orders.parkedFor.length > 0 ? "park; " : ""}
                    {orders.by ? (
                      <>
                        {orders.drain ? "drain" : "serve"}, by {orders.by} <TimeAgo at={orders.at} none="" />;{" "}
                      </>
                    ) : null}
                    order {orders.revision}
                    {serving && serving.orders_revision < orders.revision
                      ? ", not taken up yet"
                      : ", taken up"}
                  </span>
                ),
              ],
              [
                "Canary",
                serving?.canary ? (
                  <span key="c">
                    {serving.canary.ok ? "passed" : `failed: ${serving.canary.reason}`}{" "}
                    <TimeAgo at={serving.canary.at} />
                  </span>
                ) : (
                  "not reported"
                ),
              ],
              ["Requests under way", serving ? String(serving.running) : "not reported"],
              ["Last report", <TimeAgo key="r" at={node.reportedAt} />],
              ["Last seen", <TimeAgo key="s" at={node.lastSeenAt} />],
            ]}
          />
        </Card>
        <Card title="Host and engine">
          <Facts
            rows={[
              [
                "Hardware",
                <Hardware
                  key="h"
                  verdict={node.hardware}
                  sentence={node.hardwareSentence}
                  devices={node.devices}
                />,
              ],
              ["Device", node.device],
              ["Engine", readiness?.engine.name ?? node.engine ?? "unknown"],
              [
                "Models",
                readiness && readiness.engine.models.length > 0 ? (
                  <ul key="m" className="space-y-1">
                    {readiness.engine.models.map((model) => (
                      <li key={model.id}>
                        {model.id}
                        {model.max_model_len ? `, ${model.max_model_len.toLocaleString("en")} tokens` : ""}
                        {model.weights_sha256 ? (
                          <code className="ml-1.5 font-mono text-[0.8125rem] text-ink-soft">
                            {model.weights_sha256.slice(0, 12)}
                          </code>
                        ) : null}
                      </li>
                    ))}
                  </ul>
                ) : (
                  "none reported"
                ),
              ],
              ["Gateway", node.url ?? "not reported"],
              ["Version", node.version],
              ["Joined", <TimeAgo key="j" at={node.joinedAt} />],
            ]}
          />
        </Card>
      </div>
      <Card title="Readiness by pair" hint="What the node says of each pair, and why.">
        <ReadinessList pairs={readiness?.pairs ?? []} engineServes={readiness?.engine.healthy ?? false} />
      </Card>
      <Card
        title="Placement"
        hint="A pair that was never placed is on every node. Placed, it is on the named ones alone."
      >
        <PlacementList nodeId={node.id} />
      </Card>
      <Card title="Memory against budget" hint="As the engine measures it; budgets are its own limits.">
        <MemoryTable memory={readiness?.memory} parked={readiness?.serving?.state === "PARKED"} />
      </Card>
      <AcksCard node={node} />
      <Terminal
        commands={[
          command.node(node.name),
          orders.drain ? command.undrain(node.name) : command.drain(node.name),
          command.canary(node.name),
          command.revokeNode(node.name),
        ]}
      />
    </>
  );
}

type Ack = Outputs["node"]["acks"]["rows"][number];

const KINDS = ["routing_snapshot", "access_list", "node_orders"] as const;
const KIND_WORDS = {
  routing_snapshot: "Routing snapshots",
  access_list: "Access lists",
  node_orders: "Orders",
} as const;

const COLUMNS: Column<Ack>[] = [
  { id: "number", name: "Number", value: (row) => row.number, className: "tabular-nums font-medium" },
  {
    id: "answer",
    name: "Answer",
    value: (row) => (row.ok ? "acked" : "refused"),
    cell: (row) =>
      row.ok ? (
        <Badge tone="good" shape="check">
          Acked
        </Badge>
      ) : (
        <span className="inline-flex flex-wrap items-center gap-1.5">
          <Badge tone="bad" shape="cross">
            Refused
          </Badge>
          keeps {row.kept ?? "what it had"}: {row.reason}
        </span>
      ),
    csv: {
      answer: (row) => (row.ok ? "acked" : "refused"),
      kept: (row) => row.kept,
      reason: (row) => row.reason,
    },
  },
  { id: "at", name: "When", value: (row) => row.at, cell: (row) => <TimeAgo at={row.at} /> },
  {
    id: "sha",
    name: "Digest",
    value: (row) => row.sha256,
    cell: (row) => <code className="font-mono text-[0.8125rem]">{row.sha256.slice(0, 12)}</code>,
  },
];

const withText = <T extends { nextCursor: number | null }>(page: T) => ({
  ...page,
  nextCursor: page.nextCursor === null ? null : String(page.nextCursor),
});

function AcksCard({ node }: { node: Node }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const [kind, setKind] = useQueryState(
    "document",
    parseAsStringLiteral(KINDS).withDefault("routing_snapshot"),
  );
  const wanted = { id: node.id, kind };
  const acks = useInfiniteQuery(
    trpc.node.acks.infiniteQueryOptions(
      { ...wanted, limit: 25 },
      {
        getNextPageParam: (page) => page.nextCursor ?? undefined,
        select: (data) => ({ ...data, pages: data.pages.map(withText) }),
      },
    ),
  );
  return (
    <Card
      title="What it answered"
      hint="Every document it was sent, newest first. It refuses invalid ones only, and names what it keeps."
      action={
        <SelectField
          label="Document"
          value={kind}
          onChange={(event) => void setKind(event.target.value as (typeof KINDS)[number])}
        >
          {KINDS.map((one) => (
            <option key={one} value={one}>
              {KIND_WORDS[one]}
            </option>
          ))}
        </SelectField>
      }
    >
      <PagedTable
        query={acks}
        page={async (cursor) =>
          withText(
            await client.node.acks.query({
              ...wanted,
              limit: 200,
              cursor: cursor ? Number(cursor) : undefined,
            }),
          )
        }
        what="answers"
        caption={`What ${node.name} answered`}
        columns={COLUMNS}
        rowId={(row) => String(row.number)}
        csv={`helm-acks-${node.name}`}
        empty={
          <Empty title="No answer yet" command={command.node(node.name)}>
            It was sent no document of this kind, or has not been connected since.
          </Empty>
        }
      />
    </Card>
  );
}
