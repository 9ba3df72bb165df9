import { share } from "../../ui/numbers";
import { IntervalBar } from "../scores/track";
import type { GaugeScale } from "./gauge-scale";
import type { Score } from "./pair-words";

/**
 * Retention of one pair: dot and interval on the row's track, the gate as an upright line, the pilot alone as a
 * triangle above the track. Said in words for whoever cannot see it.
 */
export function Gauge({ score, gate, scale }: { score: Score; gate: number; scale: GaugeScale }) {
  const { value, low, high } = score.retention;
  const above = score.verdict === "CLEARED";
  const words = [
    `Retention ${share(value)}, 95 % interval ${share(low)} to ${share(high)}`,
    `gate ${gate.toFixed(2)}`,
    score.pilotAlone === null ? null : `pilot alone ${share(score.pilotAlone)}`,
    scale.low > 0 ? `scale from ${scale.low} to 1` : "scale from 0 to 1",
  ];
  return (
    <div
      role="img"
      aria-label={words.filter(Boolean).join("; ")}
      className="mark-forced relative h-7 w-full min-w-28"
    >
      <div className="absolute inset-x-0 top-1/2 h-1 -translate-y-1/2 rounded-full bg-track" />
      <IntervalBar
        left={`${scale.at(low)}%`}
        width={`${scale.at(high) - scale.at(low)}%`}
        tone={above ? "good" : "warn"}
      />
      {score.pilotAlone === null ? null : (
        <div
          className="absolute top-0.5 -translate-x-1/2 border-x-[5px] border-t-[6px] border-x-transparent border-t-ink-soft"
          style={{ left: `${scale.at(score.pilotAlone)}%` }}
        />
      )}
      <div
        className="absolute inset-y-0.5 w-0.5 -translate-x-1/2 bg-ink"
        style={{ left: `${scale.at(gate)}%` }}
      />
      <div
        className={`absolute top-1/2 size-2.5 -translate-x-1/2 -translate-y-1/2 ${above ? "rounded-full bg-good" : "rotate-45 bg-warn"}`}
        style={{ left: `${scale.at(value)}%` }}
      />
    </div>
  );
}

/** The key to the marks, with the marks themselves. */
export function GaugeKey({ low }: { low: number }) {
  return (
    <span className="inline-flex flex-wrap items-center gap-x-3 gap-y-0.5">
      <span className="inline-flex items-center gap-1.5">
        <i aria-hidden="true" className="size-2.5 rounded-full bg-good" /> cleared
      </span>
      <span className="inline-flex items-center gap-1.5">
        <i aria-hidden="true" className="size-2 rotate-45 bg-warn" /> below the gate
      </span>
      <span className="inline-flex items-center gap-1.5">
        <i aria-hidden="true" className="h-3.5 w-0.5 bg-ink" /> gate
      </span>
      <span className="inline-flex items-center gap-1.5">
        <i
          aria-hidden="true"
          className="size-0 border-x-[4px] border-t-[5px] border-x-transparent border-t-ink-soft"
        />{" "}
        pilot alone
      </span>
      <span>scale {low} to 1</span>
      <span>pays from: as the calibration measured it; each node measures its own</span>
    </span>
  );
}
