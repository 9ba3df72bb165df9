"use client";

import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "./button";
import { useAnnounce } from "./live-region";

export function CopyButton({
  text,
  label = "Copy",
  showLabel = false,
}: {
  text: string;
  label?: string;
  showLabel?: boolean;
}) {
  const [copied, setCopied] = useState(false);
  const announce = useAnnounce();
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  const Icon = copied ? Check : Copy;
  return (
    <Button
      kind={showLabel ? "plain" : "quiet"}
      size={showLabel ? "normal" : "small"}
      aria-label={showLabel ? undefined : label}
      onClick={async () => {
        setCopied(await copyText(text));
        announce("Copied");
      }}
    >
      <Icon aria-hidden="true" className="size-4" />
      {showLabel ? (copied ? "Copied" : label) : null}
    </Button>
  );
}

/** The clipboard API needs a secure context; a plain http host on the network falls back to a selection. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.setAttribute("aria-hidden", "true");
    area.style.position = "fixed";
    area.style.opacity = "0";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
