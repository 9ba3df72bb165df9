import { fileURLToPath } from "node:url";
import type { NextConfig } from "next";

const config: NextConfig = {
  reactStrictMode: true,
  poweredByHeader: false,
  // Socket.IO is reached without a trailing slash; proxy.ts carries it to the control plane.
  skipTrailingSlashRedirect: true,
  // Types are checked by `npm run verify`; the build needs neither the control plane's types nor a second pass.
  typescript: { ignoreBuildErrors: true },
  turbopack: { root: fileURLToPath(new URL("../..", import.meta.url)) },
  // A socket carried through stays open as long as the browser keeps it.
  experimental: { proxyTimeout: 24 * 60 * 60 * 1000 },
};

export default config;
