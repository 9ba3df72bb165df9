const FILL = { busy: "bg-busy", good: "bg-good", bad: "bg-bad", plain: "bg-ink-soft" } as const;

/** A bar with its number said; determinate only. */
export function Progress({
  percent,
  label,
  slim,
  tone = "busy",
}: {
  percent: number;
  label: string;
  slim?: boolean;
  tone?: keyof typeof FILL;
}) {
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuenow={Math.floor(percent)}
      aria-valuemin={0}
      aria-valuemax={100}
      className={`mark-forced w-full overflow-hidden rounded-full bg-track ${slim ? "h-1.5" : "h-2.5"}`}
    >
      <div
        className={`h-full rounded-full transition-[width] duration-300 ${FILL[tone]}`}
        style={{ width: `${percent}%` }}
      />
    </div>
  );
}
