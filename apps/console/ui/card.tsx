import clsx from "clsx";
import { type ReactNode, useId } from "react";

/** A titled region of a page. The heading names the region for assistive technology. */
export function Card({
  title,
  hint,
  action,
  children,
  className,
  level = 2,
}: {
  title?: ReactNode;
  hint?: ReactNode;
  action?: ReactNode;
  children?: ReactNode;
  className?: string;
  level?: 2 | 3;
}) {
  const id = useId();
  const Heading = level === 2 ? "h2" : "h3";
  return (
    <section
      aria-labelledby={title ? id : undefined}
      className={clsx("flex min-w-0 flex-col rounded-xl border border-line bg-card p-4 sm:p-5", className)}
    >
      {title || action ? (
        <div className="mb-3 flex items-start justify-between gap-x-4 gap-y-2 max-sm:flex-wrap">
          <div className="min-w-0">
            {title ? (
              <Heading id={id} className="text-[0.9375rem] font-semibold">
                {title}
              </Heading>
            ) : null}
            {hint ? <p className="mt-0.5 max-w-[70ch] text-ink-soft">{hint}</p> : null}
          </div>
          {action ? <div className="shrink-0">{action}</div> : null}
        </div>
      ) : null}
      {children}
    </section>
  );
}

export function PageHeader({
  title,
  badge,
  lead,
  actions,
}: {
  title: ReactNode;
  badge?: ReactNode;
  lead?: ReactNode;
  actions?: ReactNode;
}) {
  return (
    <header className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
      <div className="min-w-0 max-w-[78ch]">
        <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
          <h1 className="text-xl font-semibold tracking-tight break-words sm:text-[1.375rem]">{title}</h1>
          {badge}
        </div>
        {lead ? <div className="mt-1 text-[0.9375rem] leading-relaxed text-ink-soft">{lead}</div> : null}
      </div>
      {actions ? <div className="flex flex-wrap items-center gap-2">{actions}</div> : null}
    </header>
  );
}

/** Label and value pairs, one a row, with hairlines between. */
export function Facts({ rows }: { rows: [label: ReactNode, value: ReactNode][] }) {
  return (
    <dl className="divide-y divide-line">
      {rows.map(([label, value], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows are fixed by the caller and never reordered
        <div key={index} className="grid grid-cols-[minmax(7rem,2fr)_minmax(0,3fr)] gap-3 py-2.5">
          <dt className="text-ink-soft">{label}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
