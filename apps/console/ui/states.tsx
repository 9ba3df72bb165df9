import { Hourglass, Inbox, ListFilter, Lock, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "./button";
import { Command } from "./command";
import { SlowWords } from "./slow-words";

/** Empty, filtered-empty, loading, failed and forbidden are five different screens. */
function Frame({
  icon,
  title,
  children,
  role,
}: {
  icon: ReactNode;
  title: string;
  children?: ReactNode;
  role?: "alert" | "status";
}) {
  return (
    <div
      role={role}
      className="flex flex-col items-start gap-2 rounded-lg border border-dashed border-line px-4 py-6 sm:px-6"
    >
      <div className="flex items-center gap-2 font-semibold">
        {icon}
        {title}
      </div>
      <div className="w-full max-w-[70ch] space-y-3 text-ink-soft">{children}</div>
    </div>
  );
}

export function Empty({
  title,
  children,
  command,
  action,
}: {
  title: string;
  children: ReactNode;
  command?: string;
  action?: ReactNode;
}) {
  return (
    <Frame icon={<Inbox aria-hidden="true" className="size-4.5 text-ink-soft" />} title={title}>
      <p>{children}</p>
      {action}
      {command ? <Command text={command} /> : null}
    </Frame>
  );
}

/** What is on its way and is looked for again by itself. */
export function Awaited({
  title,
  children,
  action,
}: {
  title: string;
  children: ReactNode;
  action?: ReactNode;
}) {
  return (
    <Frame
      role="status"
      icon={<Hourglass aria-hidden="true" className="size-4.5 text-ink-soft" />}
      title={title}
    >
      <p>{children}</p>
      {action}
    </Frame>
  );
}

export function FilteredEmpty({ onClear, what }: { onClear: () => void; what: string }) {
  return (
    <Frame
      icon={<ListFilter aria-hidden="true" className="size-4.5 text-ink-soft" />}
      title={`No ${what} match these filters`}
    >
      <p>There are some, but none of this kind. Widen the filters to see them.</p>
      <Button onClick={onClear}>Clear filters</Button>
    </Frame>
  );
}

export function Failed({
  message,
  requestId,
  onRetry,
}: {
  message: string;
  requestId?: string | null;
  onRetry?: () => void;
}) {
  return (
    <Frame
      role="alert"
      icon={<TriangleAlert aria-hidden="true" className="size-4.5 text-bad" />}
      title="This could not be loaded"
    >
      <p>{message}</p>
      {requestId ? (
        <p className="text-[0.8125rem]">
          Request id <code className="font-mono">{requestId}</code>; the server's log has the rest.
        </p>
      ) : null}
      {onRetry ? <Button onClick={onRetry}>Try again</Button> : null}
    </Frame>
  );
}

export function Forbidden({ message }: { message: string }) {
  return (
    <Frame
      icon={<Lock aria-hidden="true" className="size-4.5 text-ink-soft" />}
      title="Your role does not reach this"
    >
      <p>{message}</p>
    </Frame>
  );
}

/** Grey bars where content will be; announced once as loading. */
export function Loading({ rows = 3, label = "Loading" }: { rows?: number; label?: string }) {
  return (
    <div role="status" className="space-y-3">
      <span className="sr-only">{label}</span>
      <SlowWords />
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: identical placeholders
        <div key={index} aria-hidden="true" className="h-9 animate-pulse rounded-lg bg-plain-wash" />
      ))}
    </div>
  );
}
