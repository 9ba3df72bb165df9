import { clamp } from "../pairs/gauge-scale";

const TICKS = [0, 0.25, 0.5, 0.75, 1];

export type Mark = {
  value: number;
  /** 95 % interval; parts of one mean have none. */
  low?: number;
  high?: number;
  tone: "good" | "warn" | "accent" | "plain";
  big?: boolean;
};

const FILL = { good: "bg-good", warn: "bg-warn", accent: "bg-accent", plain: "bg-ink-soft" } as const;
const EDGE = {
  good: "border-good",
  warn: "border-warn",
  accent: "border-accent",
  plain: "border-ink-soft",
} as const;
const at = (value: number) => `${clamp(value, 0, 1) * 100}%`;

/** A piece of the scale from 0 to 1 with a dot, its interval and the gate. Rows without a gap make one line of it. */
export function Track({ mark, gate }: { mark: Mark; gate: number }) {
  return (
    <div aria-hidden="true" className="mark-forced relative h-full min-h-7">
      {TICKS.map((tick) => (
        <div key={tick} className="absolute inset-y-0 w-px bg-line" style={{ left: at(tick) }} />
      ))}
      <div className="absolute top-1/2 h-px w-full -translate-y-1/2 bg-line" />
      <div className="absolute inset-y-0 w-0.5 -translate-x-1/2 bg-ink" style={{ left: at(gate) }} />
      {mark.low === undefined || mark.high === undefined ? null : (
        <IntervalBar
          left={at(mark.low)}
          width={`${(clamp(mark.high, 0, 1) - clamp(mark.low, 0, 1)) * 100}%`}
          tone={mark.tone}
        />
      )}
      <div
        className={`absolute top-1/2 -translate-x-1/2 -translate-y-1/2 ${mark.big ? "size-3" : "size-2"} ${
          mark.tone === "warn" ? "rotate-45" : "rounded-full"
        } ${FILL[mark.tone]}`}
        style={{ left: at(mark.value) }}
      />
    </div>
  );
}

/** Capped at both ends, taller than the dot, so that a narrow interval is seen as well. */
export function IntervalBar({ left, width, tone }: { left: string; width: string; tone: Mark["tone"] }) {
  return (
    <div
      className={`absolute top-1/2 h-4 min-w-1 -translate-y-1/2 rounded-[2px] border-x-2 ${EDGE[tone]}`}
      style={{ left, width }}
    >
      <div className={`absolute inset-x-0 top-1/2 h-1.5 -translate-y-1/2 opacity-35 ${FILL[tone]}`} />
    </div>
  );
}

/** The gate's label has a line of its own above the rows, so that nothing crosses it. */
export function GateLabel({ gate }: { gate: number }) {
  return (
    <div aria-hidden="true" className="relative h-5">
      <span
        className={`absolute -translate-x-1/2 text-[0.75rem] font-semibold whitespace-nowrap ${gate > 0.85 ? "max-sm:-translate-x-[80%]" : ""}`}
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
