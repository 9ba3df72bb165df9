"use client";

import Link from "next/link";
import { ButtonLink } from "../../ui/button";
import { bytes, count, share, signed } from "../../ui/numbers";
import { Table, Td, Th, Tr } from "../../ui/table";
import { Calibrate } from "../calibrations/calibrate-dialog";
import { RunProgress } from "../calibrations/run-progress";
import { TimeAgo } from "../preferences/time";
import { Gauge, GaugeKey } from "./gauge";
import { type GaugeScale, gaugeScale } from "./gauge-scale";
import { type Pair, pairTitle, shownScore, statusSentence } from "./pair-words";
import { Calibrating, Marks, PairStatusBadge } from "./status-badge";

export function PairTable({ pairs }: { pairs: Pair[] }) {
  const scale = gaugeScale(
    pairs.flatMap((pair) => {
      const score = shownScore(pair);
      return [pair.gate, score?.retention.low, score?.pilotAlone];
    }),
  );
  return (
    <Table
      caption="Pairs with their retention against the gate"
      head={
        <>
          <Th>Pilot to target</Th>
          <Th>Status</Th>
          <Th className="w-[24%]">
            Retention <GaugeKey low={scale.low} />
          </Th>
          <Th>95 % interval</Th>
          <Th className="@3xl:@max-4xl:hidden">Over pilot</Th>
          <Th className="@3xl:@max-4xl:hidden">Pays off</Th>
          <Th className="@3xl:@max-4xl:hidden">Mapper</Th>
          <Th>Measured</Th>
          <Th>
            <span className="sr-only">Action</span>
          </Th>
        </>
      }
    >
      {pairs.map((pair) => (
        <PairRow key={pair.id} pair={pair} scale={scale} />
      ))}
    </Table>
  );
}

function PairRow({ pair, scale }: { pair: Pair; scale: GaugeScale }) {
  const score = shownScore(pair);
  const name = pairTitle(pair);
  return (
    <Tr>
      <Td label="Pair">
        <Link href={`/pairs/${pair.id}`} className="underline-offset-4 hover:underline">
          <span className="font-semibold">{pair.source.id}</span> <span className="text-ink-soft">to</span>{" "}
          <span className="font-semibold">{pair.target.id}</span>
        </Link>
      </Td>
      <Td label="Status">
        <span className="inline-flex flex-wrap gap-1">
          <PairStatusBadge status={pair.status} />
          {pair.calibrating ? <Calibrating /> : null}
          <Marks control={pair.control} developmentOnly={pair.developmentOnly} />
        </span>
      </Td>
      <Td label="Retention">
        {pair.calibrating ? (
          <RunProgress id={pair.calibrating} label={`Calibration of ${name}`} />
        ) : score ? (
          <Gauge score={score} gate={pair.gate} scale={scale} />
        ) : (
          <span className="text-ink-soft">{statusSentence(pair)}</span>
        )}
      </Td>
      <Td label="Interval" className="whitespace-nowrap tabular-nums">
        {score ? (
          <>
            <span className="text-[0.9375rem] font-semibold">{share(score.retention.value)}</span>
            <div className="text-[0.75rem] text-ink-soft">
              {share(score.retention.low)} to {share(score.retention.high)}
            </div>
          </>
        ) : null}
      </Td>
      <Td label="Over pilot" className="tabular-nums @3xl:@max-4xl:hidden">
        {score && score.pilotAlone !== null && !pair.control
          ? signed(score.retention.value - score.pilotAlone)
          : null}
      </Td>
      <Td label="Pays off" className="tabular-nums @3xl:@max-4xl:hidden">
        {score && !pair.control
          ? score.paysFrom === null
            ? "never so far"
            : `from ${count(score.paysFrom)} tokens`
          : null}
      </Td>
      <Td label="Mapper" className="whitespace-nowrap @3xl:@max-4xl:hidden">
        {pair.active ? bytes(pair.active.bytes) : null}
      </Td>
      <Td label="Measured">{pair.measuredAt ? <TimeAgo at={pair.measuredAt} /> : null}</Td>
      <Td className="@3xl:text-right">
        {pair.calibrating ? (
          <ButtonLink href={`/calibrations/${pair.calibrating}`} size="small">
            Open run<span className="sr-only"> of {name}</span>
          </ButtonLink>
        ) : (
          <Calibrate pairId={pair.id} pairName={name} again={pair.measuredAt !== null} size="small" />
        )}
      </Td>
    </Tr>
  );
}
