"use client";

import type { Connection } from "../../api/quiet";
import { Badge } from "../../ui/badge";
import { useNow } from "../preferences/time";
import { duration } from "../preferences/time-words";

const WORD: Record<Exclude<Connection, "live">, string> = {
  connecting: "connecting",
  reconnecting: "reconnecting",
  quiet: "the control plane is silent",
};

/** What the figures on screen are worth: live, or how old. A run that has ended needs no connection. */
export function ConnectionWord({
  connection,
  heardAt,
  ended,
}: {
  connection: Connection;
  heardAt: number | null;
  ended: boolean;
}) {
  const now = useNow();
  if (ended) return null;
  if (connection === "live") {
    return (
      <Badge tone="good" shape="dot">
        live
      </Badge>
    );
  }
  const age = heardAt === null ? null : duration(now - heardAt);
  return (
    <Badge tone="warn" shape="spin">
      {WORD[connection]}
      {age === null ? "" : `, last update ${age} ago`}
    </Badge>
  );
}
