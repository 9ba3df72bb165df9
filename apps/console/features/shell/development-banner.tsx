"use client";

import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { useTRPC } from "../../api/trpc";

/** Every page of a development fleet says so: what is measured there is eligible there only. */
export function DevelopmentBanner() {
  const trpc = useTRPC();
  const overview = useQuery(trpc.overview.helm.queryOptions()).data;
  if (!overview?.developmentMode) return null;
  return (
    <p className="flex items-start gap-2.5 rounded-xl border border-warn bg-warn-wash px-4 py-2.5 text-warn-ink">
      <TriangleAlert aria-hidden="true" className="mt-0.5 size-4.5 shrink-0" />
      <span>
        <strong className="font-semibold">Development mode.</strong> No accelerator on this host, so Helm runs
        on the CPU: calibrations work, every score made here is marked, and its mapper serves on development
        nodes only.
      </span>
    </p>
  );
}
