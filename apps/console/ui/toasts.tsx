"use client";

import { Toaster } from "sonner";

export function Toasts() {
  return (
    <Toaster
      position="bottom-right"
      closeButton
      duration={7_000}
      toastOptions={{
        style: { background: "var(--raised)", color: "var(--ink)", border: "1px solid var(--line)" },
        // The library's own grey is for a light ground alone.
        descriptionClassName: "text-ink-soft!",
      }}
    />
  );
}
