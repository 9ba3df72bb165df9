import type { ReactNode } from "react";
import { share } from "../../ui/numbers";
import { Axis, GateLabel, type Mark, Track } from "./track";

export type TrackRow = { key: string; label: ReactNode; mark: Mark; strong?: boolean };

const GRID =
  "grid grid-cols-[minmax(0,1fr)_auto] gap-x-3 sm:grid-cols-[var(--label,9.5rem)_minmax(0,1fr)_8.5rem]";

/** Label, track and figure, each in its own column; on narrow screens the track lies below the two. */
export function TrackRows({ rows, gate }: { rows: TrackRow[]; gate: number }) {
  return (
    <div className="flex flex-1 flex-col">
      <ScaleRow>
        <GateLabel gate={gate} />
      </ScaleRow>
      <ul className="grid flex-1 auto-rows-fr">
        {rows.map(({ key, label, mark, strong }) => (
          <li key={key} className={`${GRID} items-stretch max-sm:pt-1.5`}>
            <span className={`min-w-0 self-center ${strong ? "font-semibold" : ""}`}>{label}</span>
            <span className="self-center text-right whitespace-nowrap tabular-nums sm:order-3">
              <span className={strong ? "font-semibold" : ""}>{share(mark.value)}</span>
              {mark.low === undefined || mark.high === undefined ? null : (
                <span className="text-[0.75rem] text-ink-soft">
                  {" "}
                  {share(mark.low)}-{share(mark.high)}
                </span>
              )}
            </span>
            <div className="max-sm:col-span-2 sm:order-2">
              <Track mark={mark} gate={gate} />
            </div>
          </li>
        ))}
      </ul>
      <ScaleRow>
        <Axis />
      </ScaleRow>
    </div>
  );
}

function ScaleRow({ children }: { children: ReactNode }) {
  return (
    <div className={GRID}>
      <span className="max-sm:hidden" />
      <div className="max-sm:col-span-2">{children}</div>
      <span className="max-sm:hidden" />
    </div>
  );
}
