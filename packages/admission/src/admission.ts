import type { Reservation } from "./ledger";
import type { Pull } from "./pull-window";
import type { Shortfall } from "./refusal";

export type Admission =
  | { outcome: "admitted"; reservation: Admitted; waited_ms: number }
  | { outcome: "refused"; shortfall: Shortfall }
  | { outcome: "gone" };

/** Room on an engine, and a place among what the engine has been handed. */
export interface Admitted extends Reservation {
  /** The engine has read the prompt. */
  started(): void;
}

export interface AdmissionAsk {
  tenant: string;
  bytes: number;
  pull?: Pull;
  /** How long it may wait for its turn. */
  deadlineMs: number;
  /** Aborted when the client went away: it leaves the queue at once. */
  signal?: AbortSignal;
  /** Of an earlier refusal: its place in the queue is taken up again. */
  ticket?: string | null;
  /** Whether a refusal keeps a place; not for what does without instead of coming back. */
  keepsPlace?: boolean;
}

/** Bytes that a request cannot exceed, and how to learn what it needs in fact. */
export interface BoundAsk extends Omit<AdmissionAsk, "ticket" | "keepsPlace"> {
  /** Asked at most once, and only when somebody else would have to wait for the difference. */
  exact: () => Promise<number>;
}
