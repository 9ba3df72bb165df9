/** Time as the gate sees it, so that a test can run hours of it in a moment. */
export interface Clock {
  /** Milliseconds since some beginning; it never goes back. */
  now(): number;
  /** Calls `what` once after so many milliseconds, unless the returned function was called before. */
  after(ms: number, what: () => void): () => void;
  /** The wall's time, for what a person or another machine reads. */
  date(): Date;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, what) => {
    const timer = setTimeout(what, ms);
    return () => clearTimeout(timer);
  },
  date: () => new Date(),
};
