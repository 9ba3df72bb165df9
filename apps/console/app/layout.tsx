import type { Metadata, Viewport } from "next";
import { cookies, headers } from "next/headers";
import { NuqsAdapter } from "nuqs/adapters/next/app";
import type { ReactNode } from "react";
import { ApiProvider } from "../api/provider";
import { readPreferences } from "../features/preferences/preferences";
import { PreferencesProvider } from "../features/preferences/provider";
import { LiveRegion } from "../ui/live-region";
import { StyleNonce } from "../ui/style-nonce";
import { Toasts } from "../ui/toasts";
import "./globals.css";
import "sonner/dist/styles.css";

export const metadata: Metadata = {
  title: { default: "Helm", template: "%s - Helm" },
  description: "Helm Intelligent Routing: calibrate pairs of models and route requests between them.",
  robots: { index: false },
};

export const viewport: Viewport = { width: "device-width", initialScale: 1, colorScheme: "light dark" };

export default async function RootLayout({ children }: { children: ReactNode }) {
  const jar = await cookies();
  const nonce = (await headers()).get("x-nonce") ?? undefined;
  const { theme, zone } = readPreferences((name) => jar.get(name)?.value);
  return (
    <html lang="en" data-theme={theme} suppressHydrationWarning>
      <body>
        <StyleNonce nonce={nonce} />
        <PreferencesProvider theme={theme} zone={zone}>
          <ApiProvider>
            <NuqsAdapter>
              <LiveRegion>
                {children}
                <Toasts />
              </LiveRegion>
            </NuqsAdapter>
          </ApiProvider>
        </PreferencesProvider>
      </body>
    </html>
  );
}
