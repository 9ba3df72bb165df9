/** The control plane says something every 4 s at least; after two of them unheard nothing on screen is "live". */
export const QUIET_AFTER_MS = 9_000;

export type Connection = "connecting" | "live" | "reconnecting" | "quiet";

/**
 * What a connection is worth now. A socket that stands and says nothing is not live: a control plane that hangs keeps its
 * sockets open for as long as the system lets it.
 */
export function connectionNow(
  state: "connecting" | "live" | "reconnecting",
  heardAt: number | null,
  now: number,
): Connection {
  if (state !== "live") return state;
  return heardAt !== null && now - heardAt > QUIET_AFTER_MS ? "quiet" : "live";
}
