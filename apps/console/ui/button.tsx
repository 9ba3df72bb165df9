import clsx from "clsx";
import Link from "next/link";
import type { ButtonHTMLAttributes, ReactNode } from "react";

export type ButtonKind = "primary" | "plain" | "quiet" | "danger";

const kinds: Record<ButtonKind, string> = {
  primary: "bg-accent text-accent-ink border-transparent hover:bg-accent-strong",
  plain: "bg-card text-ink border-line hover:border-line-strong",
  quiet: "bg-transparent text-ink border-transparent hover:bg-plain-wash",
  danger: "bg-bad text-bad-solid-ink border-transparent hover:opacity-90",
};

export function buttonClass(kind: ButtonKind = "plain", size: "small" | "normal" = "normal"): string {
  return clsx(
    "inline-flex items-center justify-center gap-1.5 rounded-lg border font-medium whitespace-nowrap transition-colors",
    "aria-disabled:opacity-55 aria-disabled:cursor-not-allowed disabled:opacity-55 disabled:cursor-not-allowed",
    size === "small" ? "min-h-7 px-2.5 text-[0.8125rem]" : "min-h-9 px-3.5 text-sm",
    kinds[kind],
  );
}

export type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  kind?: ButtonKind;
  size?: "small" | "normal";
  /** Keeps focus, says it is at work and ignores further clicks. */
  busy?: boolean;
  /** Why the button cannot be used; it stays focusable so that the reason can be read. */
  blockedBecause?: string | null;
};

export function Button({
  kind,
  size,
  busy,
  blockedBecause,
  className,
  children,
  onClick,
  ...rest
}: ButtonProps) {
  const blocked = busy === true || Boolean(blockedBecause);
  return (
    <button
      type="button"
      {...rest}
      className={clsx(buttonClass(kind, size), className)}
      aria-disabled={blocked || undefined}
      aria-busy={busy || undefined}
      title={blockedBecause ?? rest.title}
      onClick={(event) => {
        if (blocked) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {busy ? <Spinner /> : null}
      {children}
      {blockedBecause ? <span className="sr-only">({blockedBecause})</span> : null}
    </button>
  );
}

export function ButtonLink({
  href,
  kind,
  size,
  children,
  className,
}: {
  href: string;
  kind?: ButtonKind;
  size?: "small" | "normal";
  children: ReactNode;
  className?: string;
}) {
  return (
    <Link href={href} className={clsx(buttonClass(kind, size), className)}>
      {children}
    </Link>
  );
}

export function Spinner() {
  return (
    <span
      aria-hidden="true"
      className="inline-block size-3.5 animate-spin rounded-full border-2 border-current border-t-transparent"
    />
  );
}
