import { defineConfig } from "@playwright/test";
import config from "./playwright.config";

/** The same specs with recorded runs in place of one that is fitted: minutes less, for who works on pages. */
export default defineConfig({
  ...config,
  globalSetup: "./screens-setup.ts",
  projects: [
    { name: "prepare", testMatch: "screens-prepare.ts" },
    ...(config.projects ?? [])
      .filter(({ name }) => name !== "journey")
      .map((project) => ({
        ...project,
        dependencies: project.dependencies?.map((name) => (name === "journey" ? "prepare" : name)),
      })),
    { name: "screens", testMatch: "screenshots.ts", dependencies: ["prepare"] },
  ],
});
