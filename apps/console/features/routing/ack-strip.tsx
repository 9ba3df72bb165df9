import { CircleCheck, CircleDashed, CircleX } from "lucide-react";
import type { Answer } from "./snapshot-words";

const LOOK = {
  acked: { Icon: CircleCheck, tone: "text-good" },
  refused: { Icon: CircleX, tone: "text-bad" },
  silent: { Icon: CircleDashed, tone: "text-ink-soft" },
} as const;

/** One sign for each node: a tick, a cross or a broken ring. The same in words for who cannot see it. */
export function AckStrip({ answers }: { answers: Answer[] }) {
  if (answers.length === 0) return <span className="text-ink-soft">no node yet</span>;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
      {answers.map(({ node, kind, words }) => {
        const { Icon, tone } = LOOK[kind];
        return (
          <span key={node} className="inline-flex items-center gap-1" title={`${node} ${words}`}>
            <Icon aria-hidden="true" className={`size-4 shrink-0 ${tone}`} strokeWidth={2.25} />
            <span className="text-[0.8125rem]">{node}</span>
            <span className="sr-only">{words}</span>
          </span>
        );
      })}
    </span>
  );
}
