import type { Estimate } from "@helm/contracts";
import { signed } from "../../ui/numbers";
import { IntervalBar } from "./track";

type Row = { key: string; label: string; estimate: Estimate; strong: boolean };

/** Differences in points on a scale around 0; an interval that leaves 0 out is coloured by its side. */
export function DifferenceRows({ rows }: { rows: Row[] }) {
  const reach = Math.max(0.005, ...rows.flatMap(({ estimate }) => [-estimate.low, estimate.high]));
  const at = (value: number) => 50 + (value / (reach * 1.1)) * 50;
  return (
    <ul aria-hidden="true">
      {rows.map(({ key, label, estimate, strong }) => {
        const { value, low, high } = estimate;
        const tone = low > 0 ? "good" : high < 0 ? "warn" : "plain";
        return (
          <li
            key={key}
            className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-3 sm:grid-cols-[7.5rem_minmax(0,1fr)_10rem]"
          >
            <span className={`self-center ${strong ? "font-semibold" : ""}`}>{label}</span>
            <span className="self-center text-right whitespace-nowrap tabular-nums sm:order-3">
              <span className={strong ? "font-semibold" : ""}>{signed(100 * value, 2)}</span>
              <span className="text-[0.75rem] text-ink-soft">
                {" "}
                {signed(100 * low, 2)} to {signed(100 * high, 2)}
              </span>
            </span>
            <div className="mark-forced relative min-h-8 max-sm:col-span-2 sm:order-2">
              <div className="absolute top-1/2 h-px w-full -translate-y-1/2 bg-line" />
              <div className="absolute inset-y-0 left-1/2 w-0.5 -translate-x-1/2 bg-ink" />
              <IntervalBar left={`${at(low)}%`} width={`${at(high) - at(low)}%`} tone={tone} />
              <div
                className={`absolute top-1/2 size-2.5 -translate-x-1/2 -translate-y-1/2 ${
                  tone === "good"
                    ? "rounded-full bg-good"
                    : tone === "warn"
                      ? "rotate-45 bg-warn"
                      : "rounded-full bg-ink-soft"
                }`}
                style={{ left: `${at(value)}%` }}
              />
            </div>
          </li>
        );
      })}
      <li className="grid sm:grid-cols-[7.5rem_minmax(0,1fr)_10rem] sm:gap-x-3">
        <span className="max-sm:hidden" />
        <div className="flex justify-between text-[0.75rem] text-ink-soft">
          <span>first better</span>
          <span>points</span>
          <span>second better</span>
        </div>
      </li>
    </ul>
  );
}
