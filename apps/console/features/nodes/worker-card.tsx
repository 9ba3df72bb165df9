"use client";

import Link from "next/link";
import { Badge } from "../../ui/badge";
import { Facts } from "../../ui/card";
import { TimeAgo } from "../preferences/time";
import { Hardware, HostHead } from "./host-words";
import type { Worker } from "./node-words";
import { RevokeWorker } from "./revoke-worker";

export function WorkerCard({ worker }: { worker: Worker }) {
  return (
    <li className="rounded-lg border border-line p-4">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <HostHead host={worker}>
          {worker.runningCalibrationId ? (
            <Badge tone="busy" shape="spin">
              Calibrating
            </Badge>
          ) : (
            <Badge shape="circle">Idle</Badge>
          )}
        </HostHead>
        <RevokeWorker worker={worker} />
      </div>
      {worker.waiting ? (
        <p className="mt-3 rounded-lg bg-warn-wash px-3 py-2 text-warn-ink [overflow-wrap:anywhere]">
          {takesWords(worker)}: {worker.waiting}
        </p>
      ) : null}
      <div className="mt-3 grid gap-x-8 lg:grid-cols-2">
        <Facts
          rows={[
            [
              "Hardware",
              <Hardware
                key="h"
                verdict={worker.hardware}
                sentence={worker.hardwareSentence}
                devices={worker.devices}
              />,
            ],
            [
              "Device",
              <code key="d" className="font-mono text-[0.8125rem]">
                {worker.device}
              </code>,
            ],
            [
              "Now",
              worker.runningCalibrationId ? (
                <Link
                  key="r"
                  href={`/calibrations/${worker.runningCalibrationId}`}
                  className="underline underline-offset-4"
                >
                  running a calibration
                </Link>
              ) : (
                "nothing"
              ),
            ],
          ]}
        />
        <Facts
          rows={[
            ["Nodes beside it", besideWords(worker)],
            ["Models offered", worker.models.length > 0 ? worker.models.join(", ") : "not reported"],
            ["Corpora", worker.corpora.length > 0 ? worker.corpora.join(", ") : "not reported"],
            [
              "Version",
              <span key="v">
                {worker.version}, joined <TimeAgo at={worker.joinedAt} />
              </span>,
            ],
          ]}
        />
      </div>
    </li>
  );
}

function besideWords({ nodesBeside }: Worker): string {
  if (nodesBeside === null) return "not reported";
  return nodesBeside.length > 0 ? `${nodesBeside.join(", ")} on its machine` : "none on its machine";
}

function takesWords({ rooms }: Worker): string {
  if (rooms?.includes("drain")) return "Takes only runs that drain this machine's nodes";
  return rooms ? "Takes no calibration now" : "Takes no job now";
}
