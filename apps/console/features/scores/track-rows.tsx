import type { ReactNode } from "react";
import { share } from "../../ui/numbers";
import { Axis, GateLabel, type Mark, Track } from "./track";

export type TrackRow = { key: string; label: ReactNode; mark: Mark; strong?: boolean };

const GRID =
  "grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 sm:grid-cols-[9.5rem_minmax(0,1fr)_8.5rem]";

/** Label, track and figure, each in its own column; on narrow screens the track lies below the two. */
export function TrackRows({ rows, gate }: { rows: TrackRow[]; gate: number }) {
  return (
    <div>
      <div className={GRID}>
        <span className="max-sm:hidden" />
        <div className="max-sm:col-span-2">
          <GateLabel gate={gate} />
        </div>
        <span className="max-sm:hidden" />
      </div>
      <ul>
        {rows.map(({ key, label, mark, strong }) => (
          <li key={key} className={`${GRID} max-sm:pt-1.5`}>
            <span className={`min-w-0 ${strong ? "font-semibold" : ""}`}>{label}</span>
            <span className="text-right whitespace-nowrap tabular-nums sm:order-3">
              <span className={strong ? "font-semibold" : ""}>{share(mark.value)}</span>{" "}
              <span className="text-[0.75rem] text-ink-soft">
                {share(mark.low)}-{share(mark.high)}
              </span>
            </span>
            <div className="max-sm:col-span-2 sm:order-2">
              <Track mark={mark} gate={gate} />
            </div>
          </li>
        ))}
      </ul>
      <div className={GRID}>
        <span className="max-sm:hidden" />
        <div className="max-sm:col-span-2">
          <Axis />
        </div>
        <span className="max-sm:hidden" />
      </div>
    </div>
  );
}
