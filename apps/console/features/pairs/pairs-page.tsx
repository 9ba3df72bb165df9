"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../../api/trpc";
import { Card, PageHeader } from "../../ui/card";
import { command } from "../shell/commands";
import { Terminal } from "../shell/terminal-card";
import { useCalibrateCommand } from "../shell/use-calibrate-command";
import { DirectionsCard } from "./directions-card";
import { PairTable } from "./pair-table";
import { RefusedCard } from "./refused-card";
import { RegisterPair } from "./register-dialog";

export function PairsPage() {
  const calibrate = useCalibrateCommand();
  const trpc = useTRPC();
  const pairs = useQuery(trpc.pair.list.queryOptions());
  return (
    <>
      <PageHeader
        title="Pairs"
        lead="A pair is a pilot and a target, in one direction. Retention says how often the target, with the pilot's cache carried across, still says what it would have said."
        actions={<RegisterPair inAddress="register" />}
      />
      <Card>
        <PairTable query={pairs} />
      </Card>
      <DirectionsCard pairs={pairs.data ?? []} />
      <RefusedCard />
      <Terminal commands={[command.pairs, command.pairStorage, calibrate("pilot", "target")]} />
    </>
  );
}
