"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { tellProblem, tellStored } from "../../api/tell";
import { useTRPC } from "../../api/trpc";

export function useStartCalibration({ open }: { open: boolean }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const router = useRouter();
  return useMutation(
    trpc.calibration.start.mutationOptions({
      onSuccess: ({ id }) => {
        tellStored("The calibration is queued", "A worker takes it as soon as its device is free.");
        if (open) router.push(`/calibrations/${id}`);
      },
      onError: (error) => tellProblem("The calibration was not started", error),
      onSettled: () => {
        void client.invalidateQueries({ queryKey: trpc.pair.pathKey() });
        void client.invalidateQueries({ queryKey: trpc.calibration.pathKey() });
      },
    }),
  );
}
