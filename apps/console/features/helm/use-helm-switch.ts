"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { tellProblem, tellStored } from "../../api/tell";
import { type Outputs, useTRPC } from "../../api/trpc";
import type { FieldWords } from "../edit/conflict";
import { useToggle } from "../edit/use-toggle";
import { span } from "./span";

export type Overview = Outputs["overview"]["helm"];
export type Route = Overview["routes"][number];
export type Setting = Outputs["setting"]["get"];

export const SETTING_WORDS: FieldWords = {
  labels: {
    helmEnabled: "Helm",
    killSwitch: "Kill switch",
    gate: "Gate",
    gateOn: "Gate on",
    requireBeatsPilot: "Only pairs that beat their pilot",
    helmOffAfterS: "Helm off after",
    refuseKeysAfterS: "Keys refused after",
    traceRate: "Traces of ordinary requests",
    traceDays: "Days that traces are kept",
    traceTextHours: "Hours that their texts are kept",
  },
  show: (field, value) => {
    if (typeof value === "boolean") return value ? "on" : "off";
    if (field === "gateOn") return value === "lower" ? "lower bound" : "point value";
    return field.endsWith("S") ? span(Number(value)) : String(value);
  },
};

/** Shown at once, back on an error, and the toast names the revision that was stored. */
export function useHelmSwitch() {
  const trpc = useTRPC();
  const client = useQueryClient();
  const key = trpc.overview.helm.queryKey();
  const mutation = useMutation(trpc.setting.setHelmEnabled.mutationOptions());
  return useToggle<Setting>({
    what: "the settings",
    words: SETTING_WORDS,
    isOn: (setting) => setting.helmEnabled,
    store: (enabled, revision) => mutation.mutateAsync({ enabled, revision }),
    show: (enabled) => {
      void client.cancelQueries({ queryKey: key });
      const before = client.getQueryData(key);
      client.setQueryData(key, (overview) => overview && { ...overview, enabled });
      return () => client.setQueryData(key, before);
    },
    settle: (setting) => {
      if (setting)
        client.setQueryData(
          key,
          (overview) => overview && { ...overview, enabled: setting.helmEnabled, revision: setting.revision },
        );
      void client.invalidateQueries({ queryKey: trpc.overview.pathKey() });
      void client.invalidateQueries({ queryKey: trpc.setting.pathKey() });
    },
    stored: ({ helmEnabled, revision }) => ({
      title: `Helm is ${helmEnabled ? "on" : "off"}`,
      detail: `Stored as revision ${revision}; nodes are told now.`,
    }),
    failed: "Helm was not switched",
  });
}

/** Pulled without a revision: nothing a colleague edits meanwhile may stop it. */
export function useKillSwitch() {
  const trpc = useTRPC();
  const client = useQueryClient();
  return useMutation(
    trpc.setting.setKillSwitch.mutationOptions({
      onSuccess: (stored) =>
        tellStored(
          stored.killSwitch ? "The kill switch is pulled" : "The kill switch is released",
          `Stored as revision ${stored.revision}; which nodes took it stands on the page.`,
        ),
      onError: (error) => tellProblem("The kill switch was not changed", error),
      onSettled: () => {
        void client.invalidateQueries({ queryKey: trpc.overview.pathKey() });
        void client.invalidateQueries({ queryKey: trpc.setting.pathKey() });
      },
    }),
  );
}

/** Which nodes took the kill switch, asked every second until all that are connected have. */
export function useKillSwitchReach(enabled: boolean) {
  const trpc = useTRPC();
  return useQuery(
    trpc.setting.killSwitchReach.queryOptions(undefined, {
      enabled,
      refetchInterval: ({ state }) =>
        state.data?.nodes.every(({ took, connected }) => took || !connected) ? 15_000 : 1_000,
    }),
  );
}
