"use client";

import { Button } from "../../ui/button";
import { ConflictDialog, WhatChanged } from "./conflict-dialog";
import type { EditForm } from "./use-edit-form";

type Edit = Omit<EditForm, "form">;

/** Under every form over a shared row: what went wrong, who else was at it, and the two buttons. */
export function EditFooter({
  edit,
  onCancel,
  label = "Store",
  blockedBecause,
}: {
  edit: Edit;
  onCancel?: () => void;
  label?: string;
  blockedBecause?: string | null;
}) {
  return (
    <>
      {edit.problem ? (
        <p role="alert" className="rounded-lg bg-bad-wash px-3 py-2 font-medium text-bad-ink">
          {edit.problem}
        </p>
      ) : null}
      {edit.seen ? (
        <div className="rounded-lg border border-warn px-3 py-2">
          <WhatChanged conflict={edit.seen} words={edit.words} mine={edit.mine} />
          <p className="mt-2 text-ink-soft">
            What you typed is still here. Storing it asks once more; <em>Keep theirs</em> puts theirs into the
            form.
          </p>
          <div className="mt-2">
            <Button size="small" onClick={edit.keepTheirs}>
              Keep theirs
            </Button>
          </div>
        </div>
      ) : edit.movedOn ? (
        <p role="status" className="rounded-lg bg-warn-wash px-3 py-2 text-warn-ink">
          Somebody changed {edit.what} while you were typing. What you typed is kept; storing it shows both.
        </p>
      ) : null}
      <div className="flex flex-wrap justify-end gap-2">
        {onCancel ? <Button onClick={onCancel}>Cancel</Button> : null}
        <Button
          type="submit"
          kind="primary"
          busy={edit.isSubmitting}
          blockedBecause={blockedBecause ?? (edit.isDirty ? null : "Nothing is changed yet.")}
        >
          {label}
        </Button>
      </div>
      <ConflictDialog
        conflict={edit.conflict}
        what={edit.what}
        words={edit.words}
        mine={edit.mine}
        busy={edit.isSubmitting}
        onTheirs={edit.keepTheirs}
        onMine={() => void edit.putMine()}
        onLook={edit.look}
      />
    </>
  );
}
