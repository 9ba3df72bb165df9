"use client";

import { usePathname } from "next/navigation";
import { type ReactNode, useEffect, useState } from "react";
import { problemOf } from "../../api/errors";
import { goToSignIn } from "../../api/go-to-sign-in";
import { Failed, Loading } from "../../ui/states";
import { useSession } from "../session/use-session";
import { DevelopmentBanner } from "./development-banner";
import { LeafProvider } from "./leaf";
import { NavigationDrawer, Sidebar } from "./sidebar";
import { TopBar } from "./top-bar";

/** Sidebar, top bar and the page. Nothing of a page is drawn before the session is known. */
export function Shell({ children }: { children: ReactNode }) {
  const session = useSession();
  const pathname = usePathname();
  const signedOut = session.data === null;
  useEffect(() => {
    if (signedOut) goToSignIn();
  }, [signedOut]);
  const [drawer, setDrawer] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every change of page closes the drawer
  useEffect(() => setDrawer(false), [pathname]);

  return (
    <LeafProvider>
      <a
        href="#page"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-lg focus:bg-accent focus:px-3 focus:py-2 focus:text-accent-ink"
      >
        To the page's content
      </a>
      <div className="flex min-h-dvh">
        <Sidebar />
        <NavigationDrawer open={drawer} onOpenChange={setDrawer} />
        <div className="flex min-w-0 flex-1 flex-col">
          <TopBar onMenu={() => setDrawer(true)} />
          <main
            id="page"
            tabIndex={-1}
            className="mx-auto w-full max-w-[84rem] flex-1 space-y-4 px-3 py-4 outline-none sm:px-6 sm:py-6"
          >
            {session.data ? (
              <>
                <DevelopmentBanner />
                {children}
              </>
            ) : session.isError ? (
              <Failed {...problemOf(session.error)} onRetry={() => void session.refetch()} />
            ) : (
              <Loading rows={4} label="Loading the console" />
            )}
          </main>
        </div>
      </div>
    </LeafProvider>
  );
}
