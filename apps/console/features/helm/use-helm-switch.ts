"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { tellProblem, tellStored } from "../../api/tell";
import { type Outputs, useTRPC } from "../../api/trpc";

export type Overview = Outputs["overview"]["helm"];
export type Route = NonNullable<Overview["route"]>;

/** Optimistic; what was on screen comes back on error; the toast names the revision that was stored. */
export function useHelmSwitch() {
  const trpc = useTRPC();
  const client = useQueryClient();
  const key = trpc.overview.helm.queryKey();
  return useMutation(
    trpc.setting.setHelmEnabled.mutationOptions({
      onMutate: async ({ enabled }) => {
        await client.cancelQueries({ queryKey: key });
        const before = client.getQueryData(key);
        client.setQueryData(key, (overview) => overview && { ...overview, enabled });
        return { before };
      },
      onError: (error, _input, kept) => {
        client.setQueryData(key, kept?.before);
        tellProblem("Helm was not switched", error);
      },
      onSuccess: (stored) => {
        client.setQueryData(
          key,
          (overview) => overview && { ...overview, enabled: stored.helmEnabled, revision: stored.revision },
        );
        tellStored(
          `Helm is ${stored.helmEnabled ? "on" : "off"}`,
          `Stored as revision ${stored.revision}; nodes are told now.`,
        );
      },
      onSettled: () => {
        void client.invalidateQueries({ queryKey: trpc.overview.pathKey() });
        void client.invalidateQueries({ queryKey: trpc.setting.pathKey() });
      },
    }),
  );
}

export function useKillSwitch() {
  const trpc = useTRPC();
  const client = useQueryClient();
  return useMutation(
    trpc.setting.setKillSwitch.mutationOptions({
      onSuccess: (stored) =>
        tellStored(
          stored.killSwitch ? "The kill switch is pulled" : "The kill switch is released",
          `Stored as revision ${stored.revision}; connected nodes follow within a second.`,
        ),
      onError: (error) => tellProblem("The kill switch was not changed", error),
      onSettled: () => void client.invalidateQueries({ queryKey: trpc.overview.pathKey() }),
    }),
  );
}
