/** Why a request was not started, with the numbers a caller needs to come back at the right time. */
export interface Shortfall {
  code: "kv_memory_short" | "never_fits";
  needed_bytes: number;
  available_bytes: number;
  shortfall_bytes: number;
  retry_after_ms: number;
  /** Sent back with the same request it keeps the place; null where none is kept. */
  ticket: string | null;
  measured_at: string;
  never_fits: boolean;
}

export interface ShortfallFacts {
  needed: number;
  available: number;
  capacity: number;
  retryAfterMs: number;
  ticket: string | null;
  measuredAt: Date;
}

export function describeShortfall(facts: ShortfallFacts): Shortfall {
  const { needed, available, capacity } = facts;
  const neverFits = needed > capacity;
  const room = neverFits ? capacity : available;
  return {
    code: neverFits ? "never_fits" : "kv_memory_short",
    needed_bytes: needed,
    available_bytes: room,
    // A full queue can refuse although the bytes are there: others came first.
    shortfall_bytes: Math.max(0, needed - room),
    retry_after_ms: neverFits ? 0 : facts.retryAfterMs,
    ticket: neverFits ? null : facts.ticket,
    measured_at: facts.measuredAt.toISOString(),
    never_fits: neverFits,
  };
}
