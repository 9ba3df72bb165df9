"use client";

import { Dialog } from "../../ui/dialog";

const KEYS: [keys: string[], what: string][] = [
  [["Ctrl", "K"], "Search pages, pairs, runs, tenants and nodes, and do what you may do"],
  [["Ctrl", "/"], "This help"],
  [["Tab"], "From one control to the next; the first one on a page skips to its content"],
  [
    ["\u2191", "\u2193"],
    "In a list: from row to row, once a row's link has the focus; Home and End to its ends",
  ],
  [["Enter"], "Open a row, press a button, send a form"],
  [["Space"], "Turn a switch, press a button, tick a box"],
  [["Esc"], "Close a dialog or a menu; what was asked is left as it is"],
];

/** Only keys with a modifier are commands of our own; all others are the browser's. */
export function KeyboardHelp({
  open,
  onOpenChange,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Keyboard"
      description="Everything here works without a mouse. On a Mac the command key does as well as Ctrl."
    >
      <dl className="divide-y divide-line">
        {KEYS.map(([keys, what]) => (
          <div key={what} className="grid grid-cols-[7rem_minmax(0,1fr)] gap-3 py-2">
            <dt className="flex flex-wrap items-start gap-1">
              {keys.map((key) => (
                <kbd
                  key={key}
                  className="min-w-6 rounded-md border border-line-strong bg-panel px-1.5 text-center font-sans text-[0.8125rem]"
                >
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
