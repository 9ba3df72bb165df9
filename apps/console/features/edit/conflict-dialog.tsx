"use client";

import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { TimeAgo } from "../preferences/time";
import { type Conflict, type FieldWords, plainValue } from "./conflict";

/** Two people edited one thing: nobody's change is lost in silence, and the one who came later decides. */
export function ConflictDialog({
  conflict,
  what,
  words,
  mine,
  busy,
  onTheirs,
  onMine,
  onLook,
}: {
  conflict: Conflict<unknown> | null;
  what: string;
  words: FieldWords;
  /** What this person wanted for a field, where they touched it. */
  mine?: (field: string) => string | null;
  busy?: boolean;
  onTheirs: () => void;
  onMine: () => void;
  /** Goes back to the form with everything typed; absent where there is no form. */
  onLook?: () => void;
}) {
  return (
    <Dialog
      open={conflict !== null}
      onOpenChange={(open) => !open && (onLook ?? onTheirs)()}
      sticky
      title={`Somebody changed ${what} meanwhile`}
      description={
        <p>Nothing of yours is stored yet, and nothing of theirs is lost. Decide what is to stand:</p>
      }
      footer={
        <>
          {onLook ? <Button onClick={onLook}>Look at it first</Button> : null}
          <Button onClick={onTheirs}>Keep theirs</Button>
          <Button kind="primary" busy={busy} onClick={onMine}>
            Put mine over it
          </Button>
        </>
      }
    >
      {conflict ? <WhatChanged conflict={conflict} words={words} mine={mine} /> : null}
    </Dialog>
  );
}

/** "bo@example.org changed this 10 s ago", and each field with what it was, what it is, and what this person wants. */
export function WhatChanged({
  conflict: { by, at, changes },
  words: { labels, show = (_, value) => plainValue(value) },
  mine = () => null,
}: {
  conflict: Conflict<unknown>;
  words: FieldWords;
  mine?: (field: string) => string | null;
}) {
  return (
    <div className="space-y-2">
      <p>
        <strong className="font-semibold break-words">{by}</strong> changed this
        {at ? (
          <>
            {" "}
            <TimeAgo at={at} />
          </>
        ) : null}
        {changes.length === 0 ? ", and set it back to what you see." : ":"}
      </p>
      <ul className="space-y-1.5">
        {changes.map(({ field, before, after }) => {
          const wanted = mine(field);
          return (
            <li key={field} className="rounded-lg bg-panel px-3 py-2 break-words">
              <span className="font-medium">{labels[field] ?? field}</span>: {show(field, before)}{" "}
              <span aria-hidden="true">{"\u2192"}</span>
              <span className="sr-only">became</span>{" "}
              <strong className="font-semibold">{show(field, after)}</strong>
              {wanted !== null ? <span className="text-ink-soft"> (you want {wanted})</span> : null}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
