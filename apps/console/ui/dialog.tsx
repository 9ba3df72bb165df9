"use client";

import { X } from "lucide-react";
import { Dialog as Primitive } from "radix-ui";
import type { ReactNode } from "react";
import { Button, type ButtonKind } from "./button";
import { useReturnFocus } from "./return-focus";

export function Dialog({
  open,
  onOpenChange,
  title,
  description,
  children,
  footer,
  sticky,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  description?: ReactNode;
  children?: ReactNode;
  footer?: ReactNode;
  /** A click beside it does not close it: what it shows cannot be shown again. */
  sticky?: boolean;
}) {
  const returnFocus = useReturnFocus();
  return (
    <Primitive.Root open={open} onOpenChange={onOpenChange}>
      <Primitive.Portal>
        <Primitive.Overlay className="fixed inset-0 z-40 bg-scrim" />
        <Primitive.Content
          className="fixed inset-x-3 top-[max(1rem,8dvh)] z-50 mx-auto flex max-h-[84dvh] max-w-lg flex-col overflow-y-auto rounded-xl border border-line bg-raised p-5 shadow-float"
          {...returnFocus}
          onInteractOutside={(event) => {
            if (sticky) event.preventDefault();
          }}
          {...(description ? {} : { "aria-describedby": undefined })}
        >
          <div className="flex items-start justify-between gap-3">
            <Primitive.Title className="text-base font-semibold">{title}</Primitive.Title>
            <Primitive.Close asChild>
              <Button kind="quiet" size="small" aria-label="Close" className="-mt-1 -mr-1.5">
                <X aria-hidden="true" className="size-4" />
              </Button>
            </Primitive.Close>
          </div>
          {description ? (
            <Primitive.Description asChild>
              <div className="mt-1.5 text-ink-soft">{description}</div>
            </Primitive.Description>
          ) : null}
          {children ? <div className="mt-4">{children}</div> : null}
          {footer ? <div className="mt-5 flex flex-wrap justify-end gap-2">{footer}</div> : null}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

/** Asks before something that production would notice; the words say what will change. */
export function ConfirmDialog({
  open,
  onOpenChange,
  title,
  description,
  confirm,
  kind = "primary",
  busy,
  onConfirm,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  description: ReactNode;
  confirm: string;
  kind?: ButtonKind;
  busy?: boolean;
  onConfirm: () => void;
}) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={title}
      description={description}
      footer={
        <>
          <Button onClick={() => onOpenChange(false)}>Leave as it is</Button>
          <Button kind={kind} busy={busy} onClick={onConfirm}>
            {confirm}
          </Button>
        </>
      }
    />
  );
}
