"use client";

import { useSyncExternalStore } from "react";
import type { Zone } from "./preferences";
import { usePreferences } from "./provider";
import { absoluteTime, relativeTime } from "./time-words";

let current = Date.now();
const listeners = new Set<() => void>();
let ticking: ReturnType<typeof setInterval> | undefined;

/** One clock a second for every time on the page. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  current = Date.now();
  ticking ??= setInterval(() => {
    current = Date.now();
    for (const each of listeners) each();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(ticking);
      ticking = undefined;
    }
  };
}

export function useNow(): number {
  return useSyncExternalStore(
    subscribe,
    () => current,
    () => current,
  );
}

type Moment = Date | string | null | undefined;

/** How long ago, with the moment itself on hover and for assistive technology, in the zone the person chose. */
export function TimeAgo({ at, none = "never" }: { at: Moment; none?: string }) {
  const now = useNow();
  const { zone } = usePreferences();
  if (!at) return <span className="text-ink-soft">{none}</span>;
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={absoluteTime(date, zone)} className="whitespace-nowrap">
      {relativeTime(date, now)}
    </time>
  );
}

export function Moment({ at, none = "never" }: { at: Moment; none?: string }) {
  const { zone } = usePreferences();
  if (!at) return <span className="text-ink-soft">{none}</span>;
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={date.toISOString()} className="tabular-nums">
      {absoluteTime(date, zone)}
    </time>
  );
}

export function zoneName(zone: Zone): string {
  return zone === "utc" ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone;
}
