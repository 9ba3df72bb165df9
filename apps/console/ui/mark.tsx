/** The product's sign: a lifebuoy seen as a wheel. */
export function Mark() {
  return (
    <svg aria-hidden="true" viewBox="0 0 32 32" className="size-6 shrink-0">
      <rect width="32" height="32" rx="8" className="fill-accent" />
      <g className="stroke-accent-ink" fill="none" strokeWidth="2.5">
        <circle cx="16" cy="16" r="8.5" strokeWidth="3.5" />
        <path d="M16 3.5v7M16 21.5v7M3.5 16h7M21.5 16h7" />
      </g>
      <circle cx="16" cy="16" r="2.5" className="fill-accent-ink" />
    </svg>
  );
}
