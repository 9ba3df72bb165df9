"use client";

import { useLayoutEffect, useRef, useState } from "react";
import { Button } from "../../ui/button";
import { usePreferences } from "../preferences/provider";
import type { LogLine } from "./feed";

const NEAR_END_PX = 24;

/** Follows the newest line until the reader scrolls away from it, and goes on following when they come back. */
export function LogView({ lines, empty }: { lines: LogLine[]; empty: string }) {
  const box = useRef<HTMLDivElement>(null);
  const [following, setFollowing] = useState(true);
  const [leftAt, setLeftAt] = useState(0);
  const { zone } = usePreferences();
  const last = lines.at(-1)?.seq ?? 0;

  // biome-ignore lint/correctness/useExhaustiveDependencies: every new line moves the view while it follows
  useLayoutEffect(() => {
    if (following && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [following, last]);

  const onScroll = () => {
    const view = box.current;
    if (!view) return;
    const atEnd = view.scrollHeight - view.scrollTop - view.clientHeight < NEAR_END_PX;
    if (atEnd !== following) {
      setFollowing(atEnd);
      setLeftAt(last);
    }
  };
  const missed = following ? 0 : lines.filter((line) => line.seq > leftAt).length;

  if (lines.length === 0) {
    return (
      <p className="flex-1 rounded-lg border border-dashed border-line px-4 py-6 text-ink-soft">{empty}</p>
    );
  }
  return (
    <div className="relative min-h-72 flex-1">
      <section
        ref={box}
        onScroll={onScroll}
        aria-label="Log"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard
        tabIndex={0}
        className="absolute inset-0 overflow-y-auto rounded-lg border border-line bg-panel p-3 font-mono text-[0.75rem] leading-5"
      >
        {lines.map((line) => (
          <div key={line.seq} className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3">
            <time dateTime={line.at} className="text-ink-soft">
              {clock(line.at, zone)}
            </time>
            <span className={`[overflow-wrap:anywhere] whitespace-pre-wrap ${TONE[line.level] ?? ""}`}>
              {TONE[line.level] ? `${line.level}: ` : ""}
              {line.message}
            </span>
          </div>
        ))}
      </section>
      {following ? null : (
        <Button
          size="small"
          kind="primary"
          className="absolute right-4 bottom-3 shadow-float"
          onClick={() => setFollowing(true)}
        >
          {missed > 0 ? `${missed} new, to the end` : "To the end"}
        </Button>
      )}
    </div>
  );
}

const TONE: Record<string, string> = {
  warning: "text-warn-ink font-semibold",
  error: "text-bad-ink font-semibold",
};

function clock(at: string, zone: "utc" | "local"): string {
  return new Date(at).toLocaleTimeString("en-GB", {
    hourCycle: "h23",
    ...(zone === "utc" ? { timeZone: "UTC" } : {}),
  });
}
