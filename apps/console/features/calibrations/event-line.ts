import type { LogLine } from "./feed";

type Stored = { seq: number; type: string; at: Date; body: Record<string, unknown> };

/** Log events are the lines, from the database as over the socket; everything else is drawn, not listed. */
export function eventLine({ seq, type, at, body }: Stored): LogLine | null {
  if (type !== "log") return null;
  return { seq, at: at.toISOString(), level: text(body.level) || "info", message: text(body.message) };
}

function text(value: unknown): string {
  return typeof value === "string" ? value : value === undefined || value === null ? "" : String(value);
}
