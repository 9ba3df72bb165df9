"use client";

import { type KeyState, keyStateOf } from "@helm/contracts";
import { Badge, type Shape, type Tone } from "../../ui/badge";
import { TimeAgo, useNow } from "../preferences/time";

export const KEY_STATE: Record<KeyState, { tone: Tone; shape: Shape; word: string }> = {
  VALID: { tone: "good", shape: "check", word: "Valid" },
  EXPIRES_SOON: { tone: "warn", shape: "alert", word: "Expires soon" },
  EXPIRED: { tone: "plain", shape: "slash", word: "Expired" },
  REVOKED: { tone: "bad", shape: "cross", word: "Revoked" },
};

/** What a key is worth now, by this page's clock, with the moment that made or will make it so. */
export function KeyStateBadge({ row }: { row: { expiresAt: Date | null; revokedAt: Date | null } }) {
  const { tone, shape, word } = KEY_STATE[keyStateOf(row, new Date(useNow()))];
  const at = row.revokedAt ?? row.expiresAt;
  return (
    <span className="inline-flex flex-wrap items-center gap-1.5">
      <Badge tone={tone} shape={shape}>
        {word}
      </Badge>
      {at ? (
        <span className="text-ink-soft">
          {row.revokedAt ? "" : word === "Expired" ? "ended " : "ends "}
          <TimeAgo at={at} />
        </span>
      ) : null}
    </span>
  );
}
