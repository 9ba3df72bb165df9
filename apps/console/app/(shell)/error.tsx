"use client";

import { useEffect } from "react";
import { Failed } from "../../ui/states";

/** A page that broke while it was drawn; the navigation around it stays. */
export default function PageError({
  error,
  reset,
}: {
  error: Error & { digest?: string };
  reset: () => void;
}) {
  useEffect(() => console.error(error), [error]);
  return (
    <Failed
      message="Something on this page broke while it was drawn."
      requestId={error.digest}
      onRetry={reset}
    />
  );
}
