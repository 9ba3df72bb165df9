"use client";

import { useQuery } from "@tanstack/react-query";
import { QueryView } from "../../api/query-view";
import { useTRPC } from "../../api/trpc";
import { PageHeader } from "../../ui/card";
import { command } from "../shell/commands";
import { Terminal } from "../shell/terminal-card";
import { CompareCard } from "./compare-card";
import { HistoryCard } from "./history-card";
import { HoldNotice } from "./hold-notice";
import { AccessListCard, InForceCard } from "./in-force-card";

export function RoutingPage() {
  const trpc = useTRPC();
  const state = useQuery(trpc.snapshot.state.queryOptions(undefined, { refetchInterval: 15_000 }));
  return (
    <>
      <PageHeader
        title="Routing configuration"
        lead="What nodes are told: one signed document for each generation. A change of settings, pairs or placement makes the next one; a rollback makes one too, with an old one's content."
      />
      <QueryView query={state} label="Loading the configuration" rows={6}>
        {(data) => (
          <>
            {data.hold ? <HoldNotice hold={data.hold} /> : null}
            <div className="grid items-start gap-4 lg:grid-cols-2">
              <InForceCard state={data} />
              <AccessListCard state={data} />
            </div>
            <HistoryCard state={data} />
            <CompareCard newest={data.generation} />
            <Terminal
              commands={[
                command.snapshots,
                command.snapshot,
                command.diffSnapshots(Math.max(1, data.generation - 1), data.generation),
                data.hold ? command.release : command.rollback(Math.max(1, data.generation - 1)),
              ]}
            />
          </>
        )}
      </QueryView>
    </>
  );
}
