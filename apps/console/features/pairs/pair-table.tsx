"use client";

import { useMemo } from "react";
import { QueryTable } from "../../api/query-table";
import { ButtonLink } from "../../ui/button";
import type { Column, Filter } from "../../ui/data-table";
import { bytes, count, share } from "../../ui/numbers";
import { Calibrate } from "../calibrations/calibrate-dialog";
import { RunProgress } from "../calibrations/run-progress";
import { TimeAgo } from "../preferences/time";
import { rescueText } from "../scores/gain-words";
import { Gauge, GaugeKey } from "./gauge";
import { type GaugeScale, gaugeScale } from "./gauge-scale";
import { NoPairs } from "./no-pairs";
import { type Pair, pairTitle, STATUS, shownScore, statusSentence } from "./pair-words";
import { Calibrating, Marks, PairStatusBadge } from "./status-badge";

type Question = Parameters<typeof QueryTable<Pair>>[0]["query"];

/** Every pair with its score, the ones that may not be used too; `plain` leaves filters and export to the overview. */
export function PairTable({ query, plain = false }: { query: Question; plain?: boolean }) {
  const pairs = query.data;
  const scale = useMemo(() => scaleOf(pairs ?? []), [pairs]);
  const columns = useMemo(() => columnsOn(scale), [scale]);
  const filters = useMemo(() => (plain ? [] : filtersFor(pairs ?? [])), [pairs, plain]);
  return (
    <QueryTable
      query={query}
      caption="Pairs with their retention against the gate"
      what="pairs"
      columns={columns}
      rowId={(pair) => pair.id}
      href={(pair) => `/pairs/${pair.id}`}
      filters={filters}
      search={plain ? undefined : "Search pairs"}
      csv={plain ? undefined : "helm-pairs"}
      legend={<GaugeKey low={scale.low} />}
      empty={<NoPairs />}
    />
  );
}

function scaleOf(pairs: Pair[]): GaugeScale {
  return gaugeScale(
    pairs.flatMap((pair) => {
      const score = shownScore(pair);
      return [pair.gate, score?.retention.low, score?.pilotAlone];
    }),
  );
}

function filtersFor(pairs: Pair[]): Filter<Pair>[] {
  const families = [...new Set(pairs.map(({ family }) => family ?? "none"))].sort();
  return [
    {
      key: "status",
      name: "Status",
      options: [...Object.keys(STATUS), "CALIBRATING"],
      matches: (pair, value) => (value === "CALIBRATING" ? pair.calibrating !== null : pair.status === value),
    },
    {
      key: "family",
      name: "Family",
      options: families,
      matches: (pair, value) => (pair.family ?? "none") === value,
    },
    {
      key: "kind",
      name: "Kind",
      options: [
        { value: "pair", name: "pairs" },
        { value: "control", name: "controls" },
      ],
      matches: (pair, value) => (value === "control") === pair.control,
    },
  ];
}

const NARROW = "@3xl:@max-5xl:hidden";
/** Beside the navigation of a usual screen there is no room for these. */
const NOT_WIDE = "@3xl:@max-6xl:hidden";

function columnsOn(scale: GaugeScale): Column<Pair>[] {
  return [
    {
      id: "pair",
      name: "Pilot to target",
      className: "@3xl:min-w-32",
      value: pairTitle,
      cell: (pair) => (
        <>
          <span className="font-semibold">{pair.source.id}</span>{" "}
          <span className="font-normal text-ink-soft">to</span>{" "}
          <span className="font-semibold">{pair.target.id}</span>
        </>
      ),
      csv: { source: (pair) => pair.source.id, target: (pair) => pair.target.id },
    },
    {
      id: "status",
      name: "Status",
      value: (pair) => pair.status,
      cell: (pair) => (
        <span className="inline-flex flex-wrap gap-1">
          <PairStatusBadge status={pair.status} />
          {pair.calibrating ? <Calibrating /> : null}
          <Marks control={pair.control} developmentOnly={pair.developmentOnly} />
        </span>
      ),
      csv: {
        status: (pair) => pair.status,
        calibrating: (pair) => pair.calibrating !== null,
        control: (pair) => pair.control,
        development: (pair) => pair.developmentOnly,
      },
    },
    {
      id: "family",
      name: "Family",
      value: (pair) => pair.family ?? "none",
      className: NOT_WIDE,
    },
    {
      id: "retention",
      name: "Retention",
      className: "@3xl:w-[22%]",
      value: (pair) => shownScore(pair)?.retention.value ?? null,
      cell: (pair) => <RetentionCell pair={pair} scale={scale} />,
      csv: {
        retention: (pair) => shownScore(pair)?.retention.value ?? null,
        retention_low: (pair) => shownScore(pair)?.retention.low ?? null,
        retention_high: (pair) => shownScore(pair)?.retention.high ?? null,
        sequences: (pair) => shownScore(pair)?.retention.n ?? null,
        verdict: (pair) => shownScore(pair)?.verdict ?? null,
      },
    },
    {
      id: "low",
      name: "95 % interval",
      className: "whitespace-nowrap tabular-nums",
      value: (pair) => shownScore(pair)?.retention.low ?? null,
      cell: (pair) => <IntervalCell pair={pair} />,
      csv: false,
    },
    {
      id: "gate",
      name: "Gate",
      value: (pair) => pair.gate,
      cell: (pair) => <GateCell pair={pair} />,
      csv: {
        gate: (pair) => pair.gate,
        gate_on: (pair) => pair.gateOn,
        server_gate: (pair) => pair.serverGate,
      },
    },
    {
      id: "rescue",
      name: "Net rescue",
      className: `whitespace-nowrap tabular-nums ${NOT_WIDE}`,
      value: (pair) => (pair.control ? null : (shownScore(pair)?.netRescue?.value ?? null)),
      cell: (pair) => (pair.control ? null : rescueText(shownScore(pair)?.netRescue ?? null)),
    },
    {
      id: "pays",
      name: "Pays from",
      className: `whitespace-nowrap tabular-nums ${NARROW}`,
      value: (pair) => (pair.control ? null : (shownScore(pair)?.paysFrom ?? null)),
      cell: (pair) => {
        const score = shownScore(pair);
        if (!score || pair.control) return null;
        return (
          <span title="By the calibration's cost curve; each node measures its own at its canary.">
            {score.paysFrom === null ? "no length" : `${count(score.paysFrom)} tokens`}
          </span>
        );
      },
    },
    {
      id: "mapper",
      name: "Mapper",
      className: `whitespace-nowrap ${NOT_WIDE}`,
      value: (pair) => pair.active?.bytes ?? null,
      cell: (pair) => (pair.active ? bytes(pair.active.bytes) : null),
      csv: {
        mapper_bytes: (pair) => pair.active?.bytes ?? null,
        mapper_sha256: (pair) => pair.active?.sha256 ?? null,
      },
    },
    {
      id: "measured",
      name: "Measured",
      className: "whitespace-nowrap",
      value: (pair) => pair.measuredAt,
      cell: (pair) => (pair.measuredAt ? <TimeAgo at={pair.measuredAt} /> : null),
    },
    {
      id: "action",
      name: "Action",
      csv: false,
      className: "@3xl:text-right",
      cell: (pair) => <Action pair={pair} />,
    },
  ];
}

function RetentionCell({ pair, scale }: { pair: Pair; scale: GaugeScale }) {
  const score = shownScore(pair);
  if (pair.calibrating)
    return <RunProgress id={pair.calibrating} label={`Calibration of ${pairTitle(pair)}`} />;
  return score ? (
    <Gauge score={score} gate={pair.gate} scale={scale} />
  ) : (
    <span className="text-ink-soft">{statusSentence(pair)}</span>
  );
}

function IntervalCell({ pair }: { pair: Pair }) {
  const score = shownScore(pair);
  if (!score) return null;
  const { value, low, high } = score.retention;
  return (
    <>
      <span className="text-[0.9375rem] font-semibold">{share(value)}</span>
      <div className="text-[0.75rem] text-ink-soft">
        {share(low)} to {share(high)}
      </div>
    </>
  );
}

/** A gate of the pair's own is said in the row: a score that would clear elsewhere may miss it here. */
function GateCell({ pair }: { pair: Pair }) {
  const { gate, serverGate } = pair;
  return (
    <>
      <span className="tabular-nums">{gateText(gate)}</span>
      {gate === serverGate ? null : (
        <div className="text-[0.75rem] whitespace-nowrap text-ink-soft">
          {gate > serverGate ? "stricter" : "laxer"} than {gateText(serverGate)}
        </div>
      )}
    </>
  );
}

function gateText(gate: number): string {
  return gate.toString().length > 4 ? gate.toString() : gate.toFixed(2);
}

function Action({ pair }: { pair: Pair }) {
  const name = pairTitle(pair);
  return pair.calibrating ? (
    <ButtonLink href={`/calibrations/${pair.calibrating}`} size="small">
      Open run<span className="sr-only"> of {name}</span>
    </ButtonLink>
  ) : (
    <Calibrate pairId={pair.id} pairName={name} again={pair.measuredAt !== null} size="small" />
  );
}
