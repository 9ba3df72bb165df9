"use client";

import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useTRPC } from "../../api/trpc";

/**
 * Asks for the overview when a question about it opens, and tells whether what is there came after that: what a colleague
 * changed a moment ago must not be decided on unseen. An answer that fails leaves what is known.
 */
export function useFreshOverview(asking: boolean): boolean {
  const trpc = useTRPC();
  const { refetch } = useQuery(trpc.overview.helm.queryOptions());
  const [answered, setAnswered] = useState(false);
  useEffect(() => {
    if (!asking) return;
    let open = true;
    void refetch().finally(() => open && setAnswered(true));
    return () => {
      open = false;
      setAnswered(false);
    };
  }, [asking, refetch]);
  return answered;
}
