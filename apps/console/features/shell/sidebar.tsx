"use client";

import { useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { X } from "lucide-react";
import Link from "next/link";
import { usePathname } from "next/navigation";
import { Dialog } from "radix-ui";
import { useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { Mark } from "../../ui/mark";
import { useReturnFocus } from "../../ui/return-focus";
import { useSession } from "../session/use-session";
import { isCurrent, NAVIGATION, type NavigationItem } from "./navigation";

export function Sidebar() {
  return (
    <aside className="hidden w-60 shrink-0 border-r border-line bg-panel lg:block">
      <div className="sticky top-0 max-h-dvh overflow-y-auto px-3 py-4">
        <Brand />
        <Navigation />
      </div>
    </aside>
  );
}

export function NavigationDrawer({
  open,
  onOpenChange,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  const returnFocus = useReturnFocus();
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-scrim lg:hidden" />
        <Dialog.Content
          {...returnFocus}
          aria-describedby={undefined}
          className="fixed inset-y-0 left-0 z-50 w-64 max-w-[85vw] overflow-y-auto border-r border-line bg-panel px-3 py-4 lg:hidden"
        >
          <div className="flex items-center justify-between">
            <Brand />
            <Dialog.Close asChild>
              <Button kind="quiet" size="small" aria-label="Close the navigation">
                <X aria-hidden="true" className="size-4" />
              </Button>
            </Dialog.Close>
          </div>
          <Dialog.Title className="sr-only">Navigation</Dialog.Title>
          <Navigation />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Brand() {
  return (
    <div className="flex items-center gap-2 px-2.5 text-[0.9375rem] font-semibold">
      <Mark />
      Lifeboat
    </div>
  );
}

function Navigation() {
  const pathname = usePathname();
  const counts = useCounts();
  return (
    <nav aria-label="Console">
      {NAVIGATION.map((group) => (
        <div key={group.name} className="mt-5">
          <h2 className="mb-1 px-2.5 text-[0.75rem] font-semibold text-ink-soft">{group.name}</h2>
          <ul className="space-y-0.5">
            {group.items.map((item) => {
              const current = isCurrent(pathname, item.href);
              return (
                <li key={item.href}>
                  <Link
                    href={item.href}
                    aria-current={current ? "page" : undefined}
                    className={clsx(
                      "flex min-h-8 items-center justify-between gap-2 rounded-lg px-2.5 py-1",
                      current
                        ? "bg-accent-wash font-semibold text-accent-wash-ink"
                        : "text-ink hover:bg-plain-wash",
                    )}
                  >
                    <span>{item.name}</span>
                    <span
                      className={clsx("text-[0.75rem]", current ? "text-accent-wash-ink" : "text-ink-soft")}
                    >
                      {item.count ? counts(item.count) : null}
                    </span>
                  </Link>
                </li>
              );
            })}
          </ul>
        </div>
      ))}
    </nav>
  );
}

function useCounts(): (which: NonNullable<NavigationItem["count"]>) => string | null {
  const trpc = useTRPC();
  const signedIn = Boolean(useSession().data);
  const overview = useQuery(trpc.overview.helm.queryOptions(undefined, { enabled: signedIn })).data;
  const pairs = useQuery(trpc.pair.list.queryOptions(undefined, { enabled: signedIn })).data;
  return (which) => {
    switch (which) {
      case "pairs":
        return overview ? String(overview.pairs.total) : null;
      case "tenants":
        return overview ? String(overview.tenants.total) : null;
      case "nodes":
        return overview ? String(overview.hardware.nodesTotal + overview.hardware.workersTotal) : null;
      case "running": {
        const running = pairs?.filter((pair) => pair.calibrating).length ?? 0;
        return running > 0 ? `${running} running` : null;
      }
    }
  };
}
