"use client";

import { useQueryState } from "nuqs";
import { useCallback, useState } from "react";

/**
 * Whether a dialog is open. With a name that stands in the address (?do=register), so that the palette and a link can
 * open it on another page; without one it is this button's own affair.
 */
export function useOpenInAddress(name?: string): [boolean, (open: boolean) => void] {
  const [doing, setDoing] = useQueryState("do", { history: "replace" });
  const [open, setOpen] = useState(false);
  const change = useCallback(
    (next: boolean) => {
      if (name) void setDoing(next ? name : null);
      else setOpen(next);
    },
    [name, setDoing],
  );
  return [name ? doing === name : open, change];
}
