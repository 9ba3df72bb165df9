import { CalibrationStage } from "@helm/contracts";
import { Check } from "lucide-react";

const WORDS: Record<CalibrationStage, string> = {
  inspect: "Read both models",
  capture: "Run both over the corpus, keep their caches' moments",
  fit: "Fit the map, layer by layer",
  select: "Choose layers, method and strength",
  score: "Score it and its control arms on unseen probes",
  cost: "Measure what a transfer costs",
  write: "Write the mapper",
};

export function StageList({ stage, done }: { stage: string | null; done: boolean }) {
  const at = CalibrationStage.options.indexOf(stage as CalibrationStage);
  return (
    <ol className="space-y-0.5">
      {CalibrationStage.options.map((name, index) => {
        const passed = done || index < at;
        const current = !done && index === at;
        return (
          <li
            key={name}
            aria-current={current ? "step" : undefined}
            className="flex items-start gap-2.5 py-1"
          >
            <span
              aria-hidden="true"
              className={`mt-0.5 flex size-4.5 shrink-0 items-center justify-center rounded-full border-2 ${
                passed ? "border-good bg-good text-card" : current ? "border-busy" : "border-line"
              }`}
            >
              {passed ? (
                <Check className="size-3" strokeWidth={3.5} />
              ) : current ? (
                <i className="size-2 animate-pulse rounded-full bg-busy" />
              ) : null}
            </span>
            <span className={current ? "font-semibold" : passed ? "" : "text-ink-soft"}>
              <code className="font-mono text-[0.8125rem]">{name}</code>
              <span className="ml-2 text-[0.8125rem] font-normal text-ink-soft">{WORDS[name]}</span>
              <span className="sr-only">{passed ? ", done" : current ? ", now" : ", to come"}</span>
            </span>
          </li>
        );
      })}
    </ol>
  );
}
