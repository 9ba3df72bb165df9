"use client";

import { useEffect, useState } from "react";

const SLOW_MS = 5_000;

/** After some seconds without an answer: that it is still awaited, so that grey bars are not all there is to see. */
export function SlowWords() {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const began = Date.now();
    const clock = setInterval(() => setSeconds(Math.floor((Date.now() - began) / 1_000)), 1_000);
    return () => clearInterval(clock);
  }, []);
  if (seconds * 1_000 < SLOW_MS) return null;
  return (
    <p className="text-[0.8125rem] text-ink-soft">
      The control plane has not answered yet.
      <span aria-hidden="true"> Waiting for {seconds} s.</span> This page shows the answer as soon as it
      comes.
    </p>
  );
}
