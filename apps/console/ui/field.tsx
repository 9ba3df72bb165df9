import clsx from "clsx";
import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";

const control =
  "w-full min-h-9 rounded-lg border border-line-strong bg-card px-3 text-sm text-ink placeholder:text-ink-soft aria-[invalid=true]:border-bad";

type Described = { label: string; hint?: ReactNode; error?: string | undefined };

function Labelled({ id, label, hint, error, children }: Described & { id: string; children: ReactNode }) {
  return (
    <div>
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      {children}
      {/* In the hint's place: a form that grows under the pointer puts something else under a second click. */}
      {hint && !error ? (
        <p id={`${id}-hint`} className="mt-1 text-[0.8125rem] text-ink-soft">
          {hint}
        </p>
      ) : null}
      {error ? (
        <p id={`${id}-error`} role="alert" className="mt-1 text-[0.8125rem] font-medium text-bad-ink">
          {error}
        </p>
      ) : null}
    </div>
  );
}

function describedBy(id: string, hint: ReactNode, error: string | undefined): string | undefined {
  return error ? `${id}-error` : hint ? `${id}-hint` : undefined;
}

export function TextField({
  label,
  hint,
  error,
  className,
  ...rest
}: Described & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <Labelled id={id} label={label} hint={hint} error={error}>
      <input
        {...rest}
        id={id}
        className={clsx(control, className)}
        aria-invalid={error ? true : undefined}
        aria-describedby={describedBy(id, hint, error)}
      />
    </Labelled>
  );
}

export function SelectField({
  label,
  hint,
  error,
  className,
  children,
  ...rest
}: Described & SelectHTMLAttributes<HTMLSelectElement>) {
  const id = useId();
  return (
    <Labelled id={id} label={label} hint={hint} error={error}>
      <select
        {...rest}
        id={id}
        className={clsx(control, className)}
        aria-invalid={error ? true : undefined}
        aria-describedby={describedBy(id, hint, error)}
      >
        {children}
      </select>
    </Labelled>
  );
}

export function TextAreaField({
  label,
  hint,
  error,
  className,
  ...rest
}: Described & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const id = useId();
  return (
    <Labelled id={id} label={label} hint={hint} error={error}>
      <textarea
        {...rest}
        id={id}
        className={clsx(control, "py-2", className)}
        aria-invalid={error ? true : undefined}
        aria-describedby={describedBy(id, hint, error)}
      />
    </Labelled>
  );
}
