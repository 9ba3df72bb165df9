"use client";

import { useRef } from "react";
import { useNow } from "../preferences/time";
import { type Sample, type Settled, settle, timeLeft, timeLeftWords } from "./time-left";

/** The time left in words, once it is stable; null before, and while a run is slower than was said. */
export function useTimeLeft(running: boolean, samples: readonly Sample[]): string | null {
  const now = useNow();
  const settled = useRef<Settled | null>(null);
  if (!running) {
    settled.current = null;
    return null;
  }
  settled.current = settle(settled.current, timeLeft(samples, now), now);
  const { endsAt } = settled.current;
  return endsAt === null ? null : timeLeftWords(Math.max(0, endsAt - now));
}
