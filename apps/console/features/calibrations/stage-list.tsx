import { CalibrationStage, type CalibrationState } from "@helm/contracts";
import { Check, Minus, X } from "lucide-react";
import type { ReactNode } from "react";

const WORDS: Record<CalibrationStage, string> = {
  inspect: "Read both models",
  capture: "Run both over the corpus, keep their caches' moments",
  fit: "Fit the map, layer by layer",
  select: "Choose layers, method and strength",
  score: "Score it and its control arms on unseen probes",
  judge: "Let both models answer the probes, for the judge",
  cost: "Measure what a transfer costs",
  write: "Write the mapper",
};

type Look = "passed" | "current" | "failed" | "stopped" | "ahead";

const LOOK: Record<Look, { ring: string; icon: ReactNode; said: string }> = {
  passed: {
    ring: "border-good bg-good text-card",
    icon: <Check className="size-3" strokeWidth={3.5} />,
    said: "done",
  },
  current: {
    ring: "border-busy",
    icon: <i className="size-2 animate-pulse rounded-full bg-busy" />,
    said: "now",
  },
  failed: {
    ring: "border-bad bg-bad text-card",
    icon: <X className="size-3" strokeWidth={3.5} />,
    said: "failed here",
  },
  stopped: {
    ring: "border-ink-soft text-ink-soft",
    icon: <Minus className="size-3" strokeWidth={3.5} />,
    said: "stopped here",
  },
  ahead: { ring: "border-line", icon: null, said: "not reached" },
};

/** The stages in order; the one a run stands at or ended in says which of the two it is. */
export function StageList({ stage, state }: { stage: string | null; state: CalibrationState }) {
  const at = CalibrationStage.options.indexOf(stage as CalibrationStage);
  return (
    <ol className="space-y-0.5">
      {CalibrationStage.options.map((name, index) => {
        const look = lookOf(index, at, state);
        const { ring, icon, said } = LOOK[look];
        const here = look !== "passed" && look !== "ahead";
        return (
          <li
            key={name}
            aria-current={look === "current" ? "step" : undefined}
            className="flex items-start gap-2.5 py-1"
          >
            <span
              aria-hidden="true"
              className={`mark-forced mt-0.5 flex size-4.5 shrink-0 items-center justify-center rounded-full border-2 ${ring}`}
            >
              {icon}
            </span>
            <span className={here ? "font-semibold" : look === "ahead" ? "text-ink-soft" : ""}>
              <code className="font-mono text-[0.8125rem]">{name}</code>
              <span className="ml-2 text-[0.8125rem] font-normal text-ink-soft">{WORDS[name]}</span>
              <span className="sr-only">, {said}</span>
            </span>
          </li>
        );
      })}
    </ol>
  );
}

function lookOf(index: number, at: number, state: CalibrationState): Look {
  if (state === "SUCCEEDED" || index < at) return "passed";
  if (index > at) return "ahead";
  switch (state) {
    case "RUNNING":
      return "current";
    case "FAILED":
      return "failed";
    case "CANCELLED":
    case "LOST":
      return "stopped";
    case "QUEUED":
      return "ahead";
  }
}
