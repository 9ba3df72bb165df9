"use client";

import clsx from "clsx";
import { Command } from "cmdk";
import { CornerDownLeft, Lock, Search } from "lucide-react";
import { useRouter } from "next/navigation";
import { Dialog } from "radix-ui";
import { useEffect, useRef, useState } from "react";
import { Button } from "../../ui/button";
import { useAnnounce } from "../../ui/live-region";
import { useReturnFocus } from "../../ui/return-focus";
import { KeyboardHelp } from "./keyboard-help";
import { type Entry, scoreWords, usePaletteEntries } from "./palette-entries";

/** The button in the top bar and the dialog behind it: Ctrl K opens it on every page, Ctrl / says which keys there are. */
export function CommandPalette() {
  const [open, setOpen] = useState(false);
  const [help, setHelp] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      // With a modifier only: a single letter as a command gets in the way of those who speak to their browser.
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      if (event.key.toLowerCase() === "k") setOpen((is) => !is);
      else if (event.key === "/") setHelp((is) => !is);
      else return;
      event.preventDefault();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  return (
    <>
      <Button
        size="small"
        className="text-ink-soft"
        aria-label="Search pages, pairs and actions"
        aria-keyshortcuts="Control+K"
        onClick={() => setOpen(true)}
      >
        <Search aria-hidden="true" className="size-4" />
        <span className="max-md:hidden">Search</span>
        <kbd className="font-sans text-[0.75rem] max-md:hidden">Ctrl K</kbd>
      </Button>
      <Palette open={open} onOpenChange={setOpen} onHelp={() => setHelp(true)} />
      <KeyboardHelp open={help} onOpenChange={setHelp} />
    </>
  );
}

function Palette({
  open,
  onOpenChange,
  onHelp,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onHelp: () => void;
}) {
  const router = useRouter();
  const announce = useAnnounce();
  const returnFocus = useReturnFocus();
  const groups = usePaletteEntries(open, onHelp);
  const [refused, setRefused] = useState<string | null>(null);
  const left = useRef(false);

  const choose = (entry: Entry) => {
    if (entry.blockedBecause) {
      setRefused(entry.blockedBecause);
      return announce(entry.blockedBecause);
    }
    left.current = Boolean(entry.href);
    onOpenChange(false);
    if (entry.href) router.push(entry.href);
    else entry.run?.();
  };

  return (
    <Dialog.Root
      open={open}
      onOpenChange={(next) => {
        setRefused(null);
        onOpenChange(next);
      }}
    >
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-scrim" />
        <Dialog.Content
          aria-describedby={undefined}
          onOpenAutoFocus={returnFocus.onOpenAutoFocus}
          onCloseAutoFocus={(event) => {
            // After a change of page the next Tab goes into that page, not back to the bar above it.
            if (left.current) {
              event.preventDefault();
              document.getElementById("page")?.focus();
            } else returnFocus.onCloseAutoFocus(event);
            left.current = false;
          }}
          className="fixed inset-x-3 top-[max(1rem,10dvh)] z-50 mx-auto flex max-h-[75dvh] max-w-xl flex-col overflow-hidden rounded-xl border border-line bg-raised shadow-float"
        >
          <Dialog.Title className="sr-only">Search pages, pairs and actions</Dialog.Title>
          <Command
            label="Search pages, pairs and actions"
            loop
            className="flex min-h-0 flex-col"
            filter={(_value, search, keywords) => scoreWords(keywords?.join(" ") ?? "", search)}
          >
            <div className="flex items-center gap-2 border-b border-line px-4">
              <Search aria-hidden="true" className="size-4 shrink-0 text-ink-soft" />
              <Command.Input
                placeholder="A page, a pair, a run, a tenant, a node, or what to do"
                className="min-h-12 w-full min-w-0 bg-transparent text-base outline-none placeholder:text-ink-soft"
                onValueChange={() => setRefused(null)}
              />
            </div>
            <Command.List className="min-h-0 flex-1 overflow-y-auto p-2">
              <Command.Empty className="px-2.5 py-6 text-ink-soft">
                Nothing here has these words. Runs older than the last 50 are on the page Calibrations.
              </Command.Empty>
              {groups.map(({ name, entries }) =>
                entries.length === 0 ? null : (
                  <Command.Group
                    key={name}
                    heading={name}
                    className="[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-[0.75rem] [&_[cmdk-group-heading]]:font-semibold [&_[cmdk-group-heading]]:text-ink-soft"
                  >
                    {entries.map((entry) => (
                      <Line key={entry.id} group={name} entry={entry} onChoose={choose} />
                    ))}
                  </Command.Group>
                ),
              )}
            </Command.List>
            <p className="border-t border-line px-4 py-2 text-[0.8125rem] text-ink-soft">
              {refused ? (
                <span className="font-medium text-bad-ink">{refused}</span>
              ) : (
                "Arrow keys choose, Enter opens, Escape closes."
              )}
            </p>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Line({ group, entry, onChoose }: { group: string; entry: Entry; onChoose: (entry: Entry) => void }) {
  const blocked = Boolean(entry.blockedBecause);
  return (
    <Command.Item
      value={entry.id}
      keywords={[entry.name, entry.hint ?? "", group]}
      onSelect={() => onChoose(entry)}
      aria-description={entry.blockedBecause ?? undefined}
      className={clsx(
        "flex min-h-9 cursor-pointer items-center justify-between gap-3 rounded-lg px-2.5 py-1.5 data-[selected=true]:bg-accent-wash data-[selected=true]:text-accent-wash-ink",
        blocked && "text-ink-soft",
      )}
    >
      <span className="flex min-w-0 items-center gap-2">
        {blocked ? <Lock aria-hidden="true" className="size-3.5 shrink-0" /> : null}
        <span className="min-w-0 truncate">{entry.name}</span>
      </span>
      <span className="flex shrink-0 items-center gap-2 text-[0.75rem] opacity-80 max-sm:hidden">
        {entry.blockedBecause ?? entry.hint}
        {entry.href ? null : <CornerDownLeft aria-hidden="true" className="size-3.5" />}
      </span>
    </Command.Item>
  );
}
