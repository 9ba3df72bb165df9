import { existsSync } from "node:fs";
import { ask } from "./command.mjs";
import { installOrSay } from "./debian.mjs";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const MAC = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** The path of a Chromium for the browser tests. Playwright's own download is not used. */
export async function ensureChromium() {
  const found = findChromium();
  if (found) return found;
  await installOrSay({
    missing: "Chromium (for the browser tests)",
    debian: ["chromium"],
    brew: "brew install --cask chromium",
  });
  return findChromium();
}

function findChromium() {
  if (process.env.HELM_CHROMIUM) return process.env.HELM_CHROMIUM;
  if (process.platform === "darwin") return MAC.find((path) => existsSync(path)) ?? null;
  for (const name of NAMES) {
    const path = ask("sh", ["-c", `command -v ${name}`]);
    if (path) return path;
  }
  return null;
}
