import type { PlaywrightTestOptions, PlaywrightWorkerOptions } from "@playwright/test";

/** The distribution's Chromium; Playwright's own download is not used. */
export const browser: Partial<PlaywrightTestOptions & PlaywrightWorkerOptions> = {
  browserName: "chromium",
  headless: true,
  viewport: { width: 1440, height: 1000 },
  timezoneId: "UTC",
  locale: "en-GB",
  launchOptions: {
    executablePath: process.env.HELM_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
  },
};
