"use client";

import { Fragment } from "react";
import { CopyButton } from "./copy-button";

/** A shorter word is not broken at its hyphens. */
const LONGEST_WHOLE = 24;

/** One command line, readable, selectable and copyable. Long ones wrap at words, never scroll the page. */
export function Command({ text, label = "Copy command" }: { text: string; label?: string }) {
  return (
    <div className="flex items-start gap-2 rounded-lg border border-line bg-panel py-1.5 pr-1.5 pl-3">
      <code className="min-w-0 flex-1 self-center font-mono text-[0.8125rem] leading-6 [overflow-wrap:anywhere] whitespace-pre-wrap text-ink">
        {text.split(" ").map((word, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the words of one line
          <Fragment key={index}>
            {index === 0 ? "" : " "}
            <span className={word.length <= LONGEST_WHOLE ? "whitespace-nowrap" : undefined}>{word}</span>
          </Fragment>
        ))}
      </code>
      <CopyButton text={text} label={label} />
    </div>
  );
}
