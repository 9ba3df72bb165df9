import type { Outputs } from "../../api/trpc";

type Cause = Outputs["pair"]["registration"]["causes"][number];
const OF: Record<Cause["model"], string> = { source: "pilot", target: "target", both: "both models" };

/** Every cause that holds, by its code, with which of the two models it lies with. */
export function CauseList({ causes }: { causes: Cause[] }) {
  return (
    <ul className="mt-1.5 list-disc space-y-1 pl-5 text-[0.8125rem]">
      {causes.map((cause) => (
        <li key={`${cause.cause}-${cause.model}`}>
          <code className="font-mono">{cause.cause}</code>{" "}
          <span className="text-ink-soft">({OF[cause.model]})</span>: {cause.sentence}
        </li>
      ))}
    </ul>
  );
}
