"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { QueryView } from "../../api/query-view";
import { useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { Card, Facts } from "../../ui/card";
import { Dialog } from "../../ui/dialog";
import { TimeAgo } from "../preferences/time";
import { useBlocked } from "../session/use-session";
import { SettingsForm } from "./settings-form";
import { span } from "./span";
import type { Setting } from "./use-helm-switch";

export function SettingsCard() {
  const trpc = useTRPC();
  const setting = useQuery(trpc.setting.get.queryOptions());
  const [open, setOpen] = useState(false);
  const blocked = useBlocked("admin");
  return (
    <Card
      title="Settings"
      hint="The gate holds for runs that finish from now on: a verdict that stands keeps the gate it was computed with, and an active mapper goes on serving until a new run, or an administrator, takes it out."
      action={
        <Button size="small" blockedBecause={blocked} onClick={() => setOpen(true)}>
          Edit<span className="sr-only"> the settings</span>
        </Button>
      }
    >
      <QueryView query={setting} label="Loading the settings" rows={4}>
        {(row) => (
          <>
            <Facts rows={rowsOf(row)} />
            <p className="mt-2 text-[0.8125rem] text-ink-soft">
              Revision {row.revision}, changed <TimeAgo at={row.updatedAt} />.
            </p>
            <Dialog
              open={open}
              onOpenChange={setOpen}
              title="Edit the settings"
              description="They hold for the whole fleet. The switch and the kill switch stand above."
            >
              <SettingsForm setting={row} onDone={() => setOpen(false)} />
            </Dialog>
          </>
        )}
      </QueryView>
    </Card>
  );
}

function rowsOf(setting: Setting): [string, string][] {
  const bound = setting.gateOn === "lower" ? "the interval's lower bound" : "the point value";
  return [
    ["Gate", `retention of ${setting.gate.toFixed(2)}, on ${bound}`],
    [
      "Pairs used",
      setting.requireBeatsPilot
        ? "only those whose target, with the cache carried across, beats the pilot alone"
        : "also those that do not beat their pilot",
    ],
    ["Helm off after", `${span(setting.helmOffAfterS)} without a word from here, on each node by itself`],
    ["Keys refused after", `${span(setting.refuseKeysAfterS)} without a word from here`],
  ];
}
