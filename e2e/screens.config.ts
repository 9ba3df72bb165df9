import { defineConfig } from "@playwright/test";
import config from "./playwright.config";

/** The journey, then a picture of every page, wide and narrow, light and dark, to be looked at by a person. */
export default defineConfig({
  ...config,
  projects: [
    { name: "journey", testMatch: "journey.spec.ts" },
    { name: "screens", testMatch: "screenshots.ts", dependencies: ["journey"] },
  ],
});
