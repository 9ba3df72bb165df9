/** Text as it was said, in a box that scrolls when it is long and is reached by the keyboard then. */
export function SaidText({ label, text }: { label: string; text: string }) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard
      tabIndex={0}
      className="max-h-80 min-h-12 overflow-auto rounded-lg bg-panel p-3"
    >
      <pre className="font-mono text-[0.8125rem] [overflow-wrap:anywhere] whitespace-pre-wrap">{text}</pre>
    </section>
  );
}
