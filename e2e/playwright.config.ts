import { defineConfig } from "@playwright/test";
import { browser } from "./browser";

/**
 * The whole real product in a real browser: the administrator's journey first, then the three roles, then single features
 * and every page, each with what those before it left behind.
 */
export default defineConfig({
  globalSetup: "./global-setup.ts",
  outputDir: "../test-results/e2e",
  timeout: 60_000,
  expect: { timeout: 20_000 },
  fullyParallel: false,
  workers: 1,
  retries: 0,
  forbidOnly: Boolean(process.env.CI),
  reporter: "list",
  use: { ...browser, screenshot: "only-on-failure" },
  projects: [
    { name: "journey", testMatch: "journey.spec.ts" },
    { name: "people", testMatch: "people.spec.ts", dependencies: ["journey"] },
    {
      name: "features",
      testMatch: "*.spec.ts",
      testIgnore: ["journey.spec.ts", "people.spec.ts", "pages.spec.ts"],
      dependencies: ["people"],
    },
    { name: "pages", testMatch: "pages.spec.ts", dependencies: ["people"] },
  ],
});
