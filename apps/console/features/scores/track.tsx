import { clamp } from "../pairs/gauge-scale";

const TICKS = [0, 0.25, 0.5, 0.75, 1];

export type Mark = {
  value: number;
  low: number;
  high: number;
  tone: "good" | "warn" | "accent" | "plain";
  big?: boolean;
};

const FILL = { good: "bg-good", warn: "bg-warn", accent: "bg-accent", plain: "bg-ink-soft" } as const;

/** A piece of the scale from 0 to 1 with a dot, its interval and the gate. Rows without a gap make one line of it. */
export function Track({ mark, gate }: { mark: Mark; gate: number }) {
  const at = (value: number) => `${clamp(value, 0, 1) * 100}%`;
  const width = Math.max(0.6, (clamp(mark.high, 0, 1) - clamp(mark.low, 0, 1)) * 100);
  return (
    <div aria-hidden="true" className="mark-forced relative h-7">
      {TICKS.map((tick) => (
        <div key={tick} className="absolute inset-y-0 w-px bg-line" style={{ left: at(tick) }} />
      ))}
      <div className="absolute top-1/2 h-px w-full -translate-y-1/2 bg-line" />
      <div className="absolute inset-y-0 w-0.5 -translate-x-1/2 bg-ink" style={{ left: at(gate) }} />
      <div
        className={`absolute top-1/2 h-2 -translate-y-1/2 rounded-sm opacity-40 ${FILL[mark.tone]}`}
        style={{ left: at(mark.low), width: `${width}%` }}
      />
      <div
        className={`absolute top-1/2 -translate-x-1/2 -translate-y-1/2 border-2 border-card ${mark.big ? "size-4" : "size-3"} ${
          mark.tone === "warn" ? "rotate-45" : "rounded-full"
        } ${FILL[mark.tone]}`}
        style={{ left: at(mark.value) }}
      />
    </div>
  );
}

/** The gate's label has a line of its own above the rows, so that nothing crosses it. */
export function GateLabel({ gate }: { gate: number }) {
  return (
    <div aria-hidden="true" className="relative h-5">
      <span
        className="absolute -translate-x-1/2 text-[0.75rem] font-semibold whitespace-nowrap"
        style={{ left: `${clamp(gate, 0.08, 0.94) * 100}%` }}
      >
        gate {gate.toFixed(2)}
      </span>
    </div>
  );
}

export function Axis() {
  return (
    <div aria-hidden="true" className="relative h-5 text-[0.75rem] text-ink-soft tabular-nums">
      {TICKS.map((tick) => (
        <span
          key={tick}
          className={`absolute top-0.5 ${tick === 0 ? "" : tick === 1 ? "-translate-x-full" : "-translate-x-1/2"}`}
          style={{ left: `${tick * 100}%` }}
        >
          {tick}
        </span>
      ))}
    </div>
  );
}
