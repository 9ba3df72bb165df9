"use client";

import { CartesianGrid, Line, LineChart, ReferenceDot, Tooltip, XAxis, YAxis } from "recharts";
import { QueryView } from "../../api/query-view";
import { ChartFrame } from "../../ui/chart-frame";
import { type Column, DataTable } from "../../ui/data-table";
import { axisName, axisText, LineFigures, LineSpace, lineMargin } from "../../ui/line-figure";
import { count, milliseconds, percent } from "../../ui/numbers";
import { Empty } from "../../ui/states";
import { LineKey } from "../scores/cost-chart";
import { type Quality, type TrafficRange, useQuality } from "./use-traffic";

type Curves = NonNullable<Quality["curves"]>;
type Point = Curves["judge"][number];
type Row = Point & { order: string };

const ORDERS = [
  { key: "judge", name: "judge", stroke: "var(--accent)" },
  { key: "random", name: "random at the same rate", stroke: "var(--ink-soft)", dash: "2 3" },
  { key: "oracle", name: "oracle", stroke: "var(--good)", dash: "6 4" },
] as const;

const COLUMNS: Column<Row>[] = [
  { id: "order", name: "Order", value: (row) => row.order },
  { id: "rate", name: "Escalated", value: (row) => row.rate, cell: (row) => percent(row.rate) },
  { id: "cost", name: "Device time", value: (row) => row.costMs, cell: (row) => milliseconds(row.costMs) },
  { id: "quality", name: "Quality", value: (row) => row.quality, cell: (row) => row.quality.toFixed(4) },
];

/** Below about 500 judged requests nothing is called guaranteed. */
const GUARANTEE_FROM = 500;

export function QualityCard({ range }: { range: TrafficRange }) {
  const quality = useQuality(range);
  return (
    <QueryView query={quality} label="Loading quality against cost" rows={4}>
      {({ curves, requests, needed }) => {
        const none = (
          <Empty title="Not enough judged requests yet">
            {`${count(requests)} of ${count(needed)} needed. Missing: requests of the random shares for which the target's log-likelihood of both answers is known. Set the shares with the route on the Helm page; an engine has to give log-probabilities of a prompt.`}
          </Empty>
        );
        const rows = curves ? rowsOf(curves) : [];
        return (
          <ChartFrame
            title="Quality against cost"
            hint="Quality is the target's mean log-likelihood of the answer, in nats a token; cost is device time of both models."
            chart={curves ? <Chart curves={curves} /> : none}
            table={
              <DataTable
                id="quality"
                caption="Quality against cost"
                what="points"
                rows={rows}
                columns={COLUMNS}
                rowId={(row) => `${row.order}-${row.rate}`}
                csv="helm-traffic-quality"
                pageSize={8}
                empty={none}
              />
            }
            note={
              curves
                ? `From ${count(requests)} requests of the random shares, each weighted by what it stands for.${requests < GUARANTEE_FROM ? ` Below ${GUARANTEE_FROM} nothing of this is guaranteed.` : ""}`
                : undefined
            }
          />
        );
      }}
    </QueryView>
  );
}

function rowsOf(curves: Curves): Row[] {
  const named = ORDERS.flatMap(({ key, name }) => curves[key].map((point) => ({ ...point, order: name })));
  return [
    { ...curves.now, order: "as it is now" },
    { ...curves.pilotOnly, order: "pilot only" },
    { ...curves.targetOnly, order: "target only" },
    ...named,
  ];
}

function Chart({ curves }: { curves: Curves }) {
  return (
    <div className="flex flex-1 flex-col">
      <LineKey lines={[...ORDERS]} />
      <LineSpace className="min-h-56">
        <LineChart margin={lineMargin} accessibilityLayer={false}>
          <CartesianGrid stroke="var(--line)" vertical={false} />
          <XAxis
            dataKey="costMs"
            type="number"
            domain={["dataMin", "dataMax"]}
            tickFormatter={(value: number) => milliseconds(value)}
            tick={axisText}
            stroke="var(--line)"
            label={axisName("device time a request")}
          />
          <YAxis
            domain={["auto", "auto"]}
            tick={axisText}
            stroke="var(--line)"
            width={56}
            tickFormatter={(value: number) => value.toFixed(2)}
          />
          <Tooltip
            isAnimationActive={false}
            content={({ active, payload }) => {
              const point = payload?.[0]?.payload as Point | undefined;
              if (!active || !point) return null;
              return (
                <LineFigures
                  title={`${percent(point.rate)} escalated`}
                  figures={[
                    ["device time", milliseconds(point.costMs)],
                    ["quality", point.quality.toFixed(4)],
                  ]}
                />
              );
            }}
          />
          {ORDERS.map((order) => (
            <Line
              key={order.key}
              data={curves[order.key]}
              dataKey="quality"
              name={order.name}
              stroke={order.stroke}
              strokeDasharray={"dash" in order ? order.dash : undefined}
              strokeWidth={2.25}
              dot={false}
              isAnimationActive={false}
            />
          ))}
          {[
            [curves.now, "now"] as const,
            [curves.pilotOnly, "pilot only"] as const,
            [curves.targetOnly, "target only"] as const,
          ].map(([point, label]) => (
            <ReferenceDot
              key={label}
              x={point.costMs}
              y={point.quality}
              r={label === "now" ? 6 : 4}
              fill={label === "now" ? "var(--accent)" : "var(--card)"}
              stroke="var(--ink)"
              label={{
                value: label,
                position: label === "pilot only" ? "right" : label === "now" ? "bottom" : "left",
                ...axisText,
              }}
            />
          ))}
        </LineChart>
      </LineSpace>
    </div>
  );
}
