/** A bar with its number said; determinate only. */
export function Progress({ percent, label, slim }: { percent: number; label: string; slim?: boolean }) {
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
        className="h-full rounded-full bg-busy transition-[width] duration-300"
        style={{ width: `${percent}%` }}
      />
    </div>
  );
}
