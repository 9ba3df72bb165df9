"use client";

import { useQuery } from "@tanstack/react-query";
import { QueryView } from "../../api/query-view";
import { useTRPC } from "../../api/trpc";
import { Card, PageHeader } from "../../ui/card";
import { Empty } from "../../ui/states";
import { command } from "../shell/commands";
import { Terminal } from "../shell/terminal-card";
import { useCalibrateCommand } from "../shell/use-calibrate-command";
import { PairTable } from "./pair-table";
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
        <QueryView query={pairs} label="Loading pairs" rows={4}>
          {(rows) => (rows.length === 0 ? <NoPairs /> : <PairTable pairs={rows} />)}
        </QueryView>
      </Card>
      <Terminal commands={[command.pairs, calibrate("pilot", "target")]} />
    </>
  );
}

export function NoPairs() {
  return (
    <Empty title="No pairs yet" command={command.registerPair("PILOT", "TARGET")}>
      Register one: two models that share a tokenizer and the shape of their key and value heads.
    </Empty>
  );
}
