"use client";

import { Switch as Primitive } from "radix-ui";

export function Switch({
  checked,
  onChange,
  label,
  describedBy,
  blockedBecause,
}: {
  checked: boolean;
  onChange: (next: boolean) => void;
  label: string;
  describedBy?: string;
  blockedBecause?: string | null;
}) {
  return (
    <Primitive.Root
      checked={checked}
      onCheckedChange={(next) => {
        if (!blockedBecause) onChange(next);
      }}
      aria-label={label}
      aria-describedby={describedBy}
      aria-disabled={blockedBecause ? true : undefined}
      title={blockedBecause ?? undefined}
      className="mark-forced relative inline-flex h-6 w-11 shrink-0 items-center rounded-full border border-line-strong bg-track transition-colors aria-disabled:cursor-not-allowed aria-disabled:opacity-60 data-[state=checked]:border-transparent data-[state=checked]:bg-accent"
    >
      <Primitive.Thumb className="block size-4.5 translate-x-0.5 rounded-full bg-white shadow-sm transition-transform data-[state=checked]:translate-x-[1.3rem] dark:data-[state=checked]:bg-accent-ink" />
    </Primitive.Root>
  );
}
