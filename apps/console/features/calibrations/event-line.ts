import { eventLine } from "@helm/contracts";
import type { LogLine } from "./feed";

type Stored = { seq: number; type: string; at: Date; body: Record<string, unknown> };

/** The same line from the database as over the socket; null for what is drawn, not listed. */
export function storedLine({ seq, type, at, body }: Stored): LogLine | null {
  const line = eventLine(type, body);
  return line ? { seq, at: at.toISOString(), ...line } : null;
}
