"use client";

import { useEffect } from "react";
import { Failed } from "../ui/states";

/** A page outside the shell that broke while it was drawn. */
export default function OuterError({
  error,
  reset,
}: {
  error: Error & { digest?: string };
  reset: () => void;
}) {
  useEffect(() => console.error(error), [error]);
  return (
    <main className="mx-auto max-w-md px-4 py-20">
      <h1 className="mb-4 text-xl font-semibold">This page broke</h1>
      <Failed message="Something on it broke while it was drawn." requestId={error.digest} onRetry={reset} />
    </main>
  );
}
