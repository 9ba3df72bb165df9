import type { DeviceFacts, HardwareVerdict } from "@helm/contracts";
import Link from "next/link";
import { Badge } from "../../ui/badge";
import { bytes } from "../../ui/numbers";
import { TimeAgo } from "../preferences/time";

type Host = {
  name: string;
  connected: boolean;
  lastSeenAt: Date | null;
  hardware: HardwareVerdict;
  development: boolean;
};

/** Connection and health are two words: a connected engine may be ill, a healthy one out of reach. */
export function HostHead({
  host,
  href,
  children,
}: {
  host: Host;
  href?: string;
  children?: React.ReactNode;
}) {
  return (
    <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1.5">
      <h3 className="text-[0.9375rem] font-semibold">
        {href ? (
          <Link href={href} className="underline-offset-4 hover:underline">
            {host.name}
          </Link>
        ) : (
          host.name
        )}
      </h3>
      {host.connected ? (
        <Badge tone="good" shape="dot">
          Connected
        </Badge>
      ) : (
        <Badge tone="bad" shape="slash">
          Not connected
        </Badge>
      )}
      {children}
      {host.development ? (
        <Badge tone="warn" shape="alert">
          Development
        </Badge>
      ) : null}
      <span className="text-ink-soft">
        last seen <TimeAgo at={host.lastSeenAt} />
      </span>
    </div>
  );
}

const VERDICT: Record<
  HardwareVerdict,
  { tone: "good" | "bad" | "plain"; shape: "check" | "cross" | "dashed" }
> = {
  allowed: { tone: "good", shape: "check" },
  refused: { tone: "bad", shape: "cross" },
  none: { tone: "plain", shape: "dashed" },
};

export function Hardware({
  verdict,
  sentence,
  devices,
}: {
  verdict: HardwareVerdict;
  sentence: string;
  devices: DeviceFacts[];
}) {
  const found = devices.filter((device) => device.vendor !== "none");
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
      <Badge {...VERDICT[verdict]}>{verdict}</Badge>
      <span>
        {found.length > 0
          ? found
              .map((device) =>
                [device.name, device.capability, device.memory_bytes ? bytes(device.memory_bytes) : null]
                  .filter(Boolean)
                  .join(", "),
              )
              .join("; ")
          : sentence}
      </span>
    </span>
  );
}
