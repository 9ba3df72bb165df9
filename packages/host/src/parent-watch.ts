/** Calls `onGone` once the parent is no longer `parent`: whoever started this process has died. Returns a stop. */
export function watchParent(parent: number | undefined, onGone: () => void, everyMs = 500): () => void {
  if (!parent) return () => undefined;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onGone();
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
