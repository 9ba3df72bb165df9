"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { problemOf } from "../../api/errors";
import { useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { SelectField } from "../../ui/field";
import { ShownOnce } from "../../ui/shown-once";
import { Moment } from "../preferences/time";
import { useBlocked } from "../session/use-session";
import { useTenantRefresh } from "./use-tenants";

const GRACE = [
  { value: 0, name: "It ends at once" },
  { value: 3_600, name: "It ends in an hour" },
  { value: 86_400, name: "It ends in a day" },
  { value: 7 * 86_400, name: "It ends in 7 days" },
  { value: 30 * 86_400, name: "It ends in 30 days" },
];

/** A new key takes over; the old one goes on beside it for a while, so that clients can be moved. */
export function RotateKey({ row }: { row: { id: string; name: string; prefix: string } }) {
  const trpc = useTRPC();
  const refresh = useTenantRefresh();
  const blocked = useBlocked("admin");
  const [open, setOpen] = useState(false);
  const [graceS, setGrace] = useState(86_400);
  const rotate = useMutation(trpc.key.rotate.mutationOptions({ onSettled: refresh }));
  const close = () => {
    setOpen(false);
    rotate.reset();
  };
  return (
    <>
      <Button
        size="small"
        blockedBecause={blocked}
        onClick={() => setOpen(true)}
        aria-label={`Rotate ${row.name}`}
      >
        Rotate
      </Button>
      <Dialog
        open={open}
        onOpenChange={(next) => (next ? setOpen(true) : close())}
        sticky={rotate.data !== undefined}
        title={rotate.data ? "Copy the new key now" : `Rotate ${row.name}`}
        description={
          rotate.data ? (
            <>
              It is shown this once. {row.prefix}_... ends <Moment at={rotate.data.replaces.endsAt} />.
            </>
          ) : (
            "A new key of the same name takes over. Until the old one ends, both work."
          )
        }
      >
        {rotate.data ? (
          <ShownOnce secret={rotate.data.key} what="key" testId="new-key" onDone={close} />
        ) : (
          <div className="space-y-4">
            <SelectField
              label={`The old key, ${row.prefix}_...`}
              value={graceS}
              onChange={(event) => setGrace(Number(event.target.value))}
            >
              {GRACE.map(({ value, name }) => (
                <option key={value} value={value}>
                  {name}
                </option>
              ))}
            </SelectField>
            {rotate.isError ? (
              <p role="alert" className="rounded-lg bg-bad-wash px-3 py-2 font-medium text-bad-ink">
                {problemOf(rotate.error).message}
              </p>
            ) : null}
            <div className="flex justify-end gap-2">
              <Button onClick={close}>Cancel</Button>
              <Button
                kind="primary"
                busy={rotate.isPending}
                onClick={() => rotate.mutate({ id: row.id, graceS })}
              >
                Make the new key
              </Button>
            </div>
          </div>
        )}
      </Dialog>
    </>
  );
}
