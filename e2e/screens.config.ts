import { defineConfig } from "@playwright/test";
import config from "./playwright.config";

/** A picture of every page, wide and narrow, light and dark, to be looked at by a person. */
export default defineConfig({
  ...config,
  globalSetup: "./screens-setup.ts",
  projects: [
    { name: "prepare", testMatch: "screens-prepare.ts" },
    { name: "screens", testMatch: "screenshots.ts", dependencies: ["prepare"] },
  ],
});
