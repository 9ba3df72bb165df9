"use client";

import { useQuery } from "@tanstack/react-query";
import { QueryView } from "../../api/query-view";
import { useTRPC } from "../../api/trpc";
import { Card, PageHeader } from "../../ui/card";
import { Empty } from "../../ui/states";
import { JoinTokensCard } from "../access/join-tokens-card";
import { command } from "../shell/commands";
import { Terminal } from "../shell/terminal-card";
import { JoinHost } from "./join-dialog";
import { NodeCard } from "./node-card";
import { WorkerCard } from "./worker-card";

export function NodesPage() {
  const trpc = useTRPC();
  const nodes = useQuery(trpc.node.list.queryOptions(undefined, { refetchInterval: 15_000 }));
  const workers = useQuery(trpc.worker.list.queryOptions(undefined, { refetchInterval: 15_000 }));
  return (
    <>
      <PageHeader
        title="Nodes and workers"
        lead="A node serves inference and carries caches across; a worker runs calibrations. Add one by starting it with a join token."
      />
      <Card
        title="Nodes"
        hint="What each was told, what it confirmed and what it serves by."
        action={<JoinHost kind="node" />}
      >
        <QueryView query={nodes} label="Loading nodes">
          {(rows) =>
            rows.length === 0 ? (
              <Empty title="No node has joined">
                Without a node nothing is served. Make a join token and start one with it.
              </Empty>
            ) : (
              <ul className="space-y-3">
                {rows.map((node) => (
                  <NodeCard key={node.id} node={node} />
                ))}
              </ul>
            )
          }
        </QueryView>
      </Card>
      <Card title="Workers" hint="Where calibrations run, and on what." action={<JoinHost kind="worker" />}>
        <QueryView query={workers} label="Loading workers">
          {(rows) =>
            rows.length === 0 ? (
              <Empty title="No worker has joined">
                Calibrations wait in the queue until one does. Make a join token and start a worker.
              </Empty>
            ) : (
              <ul className="space-y-3">
                {rows.map((worker) => (
                  <WorkerCard key={worker.id} worker={worker} />
                ))}
              </ul>
            )
          }
        </QueryView>
      </Card>
      <JoinTokensCard />
      <Terminal commands={[command.nodes, command.workers, command.doctor]} />
    </>
  );
}
