"use client";

import type { CalibrationRoom } from "@helm/contracts";
import type { InputHTMLAttributes } from "react";
import type { Outputs } from "../../api/trpc";
import { ROOM_WORDS, reachWords, unservedRoutes } from "./room-words";

type Field = InputHTMLAttributes<HTMLInputElement>;

/** Beside the engines or after a drain; of a drain, which nodes it reaches, and what would be served by none. */
export function RoomChoice({
  id,
  room,
  field,
  accept,
  reach,
}: {
  id: string;
  room: CalibrationRoom;
  field: Field;
  accept: Field;
  /** Null until it is known. */
  reach: Outputs["calibration"]["drainReach"] | null;
}) {
  const unserved = reach ? unservedRoutes(reach) : [];
  return (
    <fieldset className="space-y-2">
      <legend className="mb-1 font-medium">Room on the worker's machine</legend>
      {(["beside", "drain"] as const).map((one) => (
        <Choice
          key={one}
          id={`${id}-${one}`}
          type="radio"
          field={{ ...field, value: one }}
          label={ROOM_WORDS[one].name}
        >
          {ROOM_WORDS[one].sentence}
        </Choice>
      ))}
      {room === "drain" ? (
        <p role="status" className="pl-7.5 text-[0.8125rem]">
          {reach ? reachWords(reach) : "Asking which nodes that would be."}
        </p>
      ) : null}
      {room === "drain" && unserved.length > 0 ? (
        <div className="rounded-lg bg-warn-wash px-3 py-2 text-warn-ink">
          <p className="mb-2">
            No other node serves {unserved.join(" and ")}: its clients get 503 no_capacity from the drain
            until the nodes are back.
          </p>
          <Choice
            id={`${id}-accept`}
            type="checkbox"
            field={accept}
            label="Take them out of service meanwhile"
          >
            {null}
          </Choice>
        </div>
      ) : null}
    </fieldset>
  );
}

function Choice({
  id,
  type,
  field,
  label,
  children,
}: {
  id: string;
  type: "radio" | "checkbox";
  field: Field;
  label: string;
  children: string | null;
}) {
  return (
    <div className="flex items-start gap-2.5">
      <input
        {...field}
        id={id}
        type={type}
        className="mt-0.5 size-5 shrink-0 accent-accent"
        aria-describedby={children ? `${id}-hint` : undefined}
      />
      <div>
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        {children ? (
          <p id={`${id}-hint`} className="text-[0.8125rem] text-ink-soft">
            {children}
          </p>
        ) : null}
      </div>
    </div>
  );
}
