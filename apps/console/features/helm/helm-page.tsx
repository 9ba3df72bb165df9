"use client";

import { useQuery } from "@tanstack/react-query";
import { QueryView } from "../../api/query-view";
import { useTRPC } from "../../api/trpc";
import { Badge } from "../../ui/badge";
import { Card, PageHeader } from "../../ui/card";
import { PairTable } from "../pairs/pair-table";
import { RegisterPair } from "../pairs/register-dialog";
import { HoldNotice } from "../routing/hold-notice";
import { command } from "../shell/commands";
import { Terminal } from "../shell/terminal-card";
import { useCalibrateCommand } from "../shell/use-calibrate-command";
import { RoutesCard } from "./routes-card";
import { SettingsCard } from "./settings-card";
import { SwitchCard } from "./switch-card";
import { TenantsCard } from "./tenants-card";

export function HelmPage() {
  const calibrate = useCalibrateCommand();
  const trpc = useTRPC();
  const overview = useQuery(trpc.overview.helm.queryOptions(undefined, { refetchInterval: 30_000 }));
  const pairs = useQuery(trpc.pair.list.queryOptions());
  // What stands here is not what nodes follow while a rollback is held.
  const hold = useQuery(trpc.snapshot.state.queryOptions(undefined, { refetchInterval: 30_000 })).data?.hold;
  return (
    <>
      <PageHeader
        title="Helm Intelligent Routing"
        badge={<Badge>Beta</Badge>}
        lead="Requests go to the small pilot. The hard ones go on to the target, which continues from the pilot's cache instead of reading the prompt again. Only pairs that cleared the retention gate are used."
      />
      {hold ? <HoldNotice hold={hold} /> : null}
      <QueryView query={overview} label="Loading the switch" rows={4}>
        {(data) => <SwitchCard overview={data} />}
      </QueryView>
      <Card
        title="Pairs"
        hint="A pair is directed: what carries pilot to target does not carry target to pilot."
        action={<RegisterPair />}
      >
        <PairTable query={pairs} plain />
      </Card>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <div className="space-y-4">
          <QueryView query={overview} label="Loading the routes" rows={4}>
            {(data) => <RoutesCard routes={data.routes} />}
          </QueryView>
          <SettingsCard />
        </div>
        <div className="space-y-4">
          <TenantsCard />
          <Terminal
            commands={[
              command.pairs,
              calibrate("pilot", "target"),
              command.switchHelm(true),
              command.settings,
              command.routes,
              command.kill,
            ]}
          />
        </div>
      </div>
    </>
  );
}
