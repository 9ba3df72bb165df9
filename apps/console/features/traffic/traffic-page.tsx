"use client";

import { useQuery } from "@tanstack/react-query";
import { QueryView } from "../../api/query-view";
import { useTRPC } from "../../api/trpc";
import { Button, ButtonLink } from "../../ui/button";
import { PageHeader } from "../../ui/card";
import { SelectField } from "../../ui/field";
import { pairTitle } from "../pairs/pair-words";
import { TimeAgo } from "../preferences/time";
import { command } from "../shell/commands";
import { Terminal } from "../shell/terminal-card";
import { AgreementCard } from "./agreement-card";
import { AnsweredCard } from "./answered-card";
import { FiguresRow } from "./figures-row";
import { LengthsCard } from "./lengths-card";
import { PartsCards } from "./parts-card";
import { QualityCard } from "./quality-card";
import { ReasonsCard } from "./reasons-card";
import { RequestsCard } from "./requests-card";
import { RANGES, type Summary, useAgreement, useLengths, useRange, useSummary } from "./use-traffic";

/** What users can watch: counters of every request, and traces of some. */
export function TrafficPage() {
  const { range, setFound } = useRange();
  const summary = useSummary(range);
  const lengths = useLengths(range).data;
  const agreement = useAgreement(range).data;
  const target = useTargetRate(range.pair);
  return (
    <>
      <PageHeader
        title="Traffic"
        lead={
          <>
            What became of requests, over all nodes.{" "}
            {summary.dataUpdatedAt > 0 ? (
              <>
                Read again every few seconds, last <TimeAgo at={new Date(summary.dataUpdatedAt)} />.
              </>
            ) : null}
          </>
        }
        actions={<ButtonLink href="/playground">Ask in the playground</ButtonLink>}
      />
      <RangeBar range={range} setFound={setFound} summary={summary.data} />
      <QueryView query={summary} label="Loading the traffic" rows={6}>
        {(data) => (
          <>
            <FiguresRow
              summary={data}
              lengths={lengths}
              agreement={agreement}
              target={target}
              hours={range.hours}
            />
            <AnsweredCard range={range} />
            <div className="grid items-stretch gap-4 xl:grid-cols-2">
              <ReasonsCard range={range} />
              <QualityCard range={range} />
              <LengthsCard range={range} />
              <AgreementCard range={range} />
            </div>
            <PartsCards summary={data} range={range} />
            <RequestsCard range={range} summary={data} />
          </>
        )}
      </QueryView>
      <Terminal commands={[command.traffic(range.hours), command.trafficRequests(range.hours)]} />
    </>
  );
}

/** One rate where the routes shown agree on it: several pairs with several rates have none in common. */
function useTargetRate(pair: string | undefined): number | null {
  const trpc = useTRPC();
  const routes = useQuery(trpc.route.list.queryOptions()).data ?? [];
  const rates = new Set(
    routes
      .filter((route) => pair === undefined || route.pairId === pair)
      .map(({ judgeTable }) =>
        judgeTable && "escalation_rate" in judgeTable.by ? judgeTable.by.escalation_rate : null,
      ),
  );
  return rates.size === 1 ? ([...rates][0] ?? null) : null;
}

function RangeBar({
  range,
  setFound,
  summary,
}: {
  range: { hours: number; tenant?: string; pair?: string };
  setFound: ReturnType<typeof useRange>["setFound"];
  summary: Summary | undefined;
}) {
  const trpc = useTRPC();
  const tenants = useQuery(trpc.tenant.list.queryOptions()).data ?? [];
  const pairs = useQuery(trpc.pair.list.queryOptions()).data ?? [];
  const known = new Map<string, string>(tenants.map(({ id, name }) => [id, name]));
  for (const { id, name } of summary?.tenants ?? []) known.set(id, name);
  if (range.tenant && !known.has(range.tenant)) known.set(range.tenant, range.tenant);
  return (
    <div className="grid grid-cols-1 items-end gap-3 min-[30rem]:grid-cols-2 sm:flex sm:flex-wrap">
      <SelectField
        label="Range"
        value={range.hours}
        onChange={(event) => void setFound({ hours: Number(event.target.value) })}
      >
        {RANGES.map(({ hours, name }) => (
          <option key={hours} value={hours}>
            {name}
          </option>
        ))}
      </SelectField>
      <SelectField
        label="Tenant"
        value={range.tenant ?? ""}
        onChange={(event) => void setFound({ tenant: event.target.value || null })}
      >
        <option value="">All tenants</option>
        {[...known].map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      <SelectField
        label="Pair"
        value={range.pair ?? ""}
        onChange={(event) => void setFound({ pair: event.target.value || null })}
      >
        <option value="">All pairs</option>
        {pairs.map((pair) => (
          <option key={pair.id} value={pair.id}>
            {pairTitle(pair)}
          </option>
        ))}
      </SelectField>
      {range.tenant || range.pair ? (
        <Button onClick={() => void setFound({ tenant: null, pair: null })}>All traffic</Button>
      ) : null}
    </div>
  );
}
