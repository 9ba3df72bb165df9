"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../../api/trpc";
import { command } from "./commands";

/** The command as it works on this fleet: a CPU is never chosen by itself, so development mode has to name it. */
export function useCalibrateCommand() {
  const trpc = useTRPC();
  const { data: overview } = useQuery(trpc.overview.helm.queryOptions());
  const device = overview?.developmentMode ? "cpu" : undefined;
  return (source: string, target: string) => command.calibrate(source, target, { device });
}
