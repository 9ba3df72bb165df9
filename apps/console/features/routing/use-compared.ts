"use client";

import { parseAsInteger, useQueryStates } from "nuqs";

/** The two generations that are compared, in the address; without a second one, the settings. */
export function useCompared() {
  const [{ from, to }, set] = useQueryStates(
    { from: parseAsInteger, to: parseAsInteger },
    { history: "push", shallow: true },
  );
  return {
    from,
    to,
    compare: (first: number | null, second: number | null) => {
      void set({ from: first, to: second }).then(() =>
        document.getElementById("compare")?.scrollIntoView({ block: "start" }),
      );
    },
  };
}
