import { relative } from "node:path";
import { ROOT } from "./paths.mjs";

const HARDWARE = {
  none: () =>
    "Hardware: no GPU was found, so Helm runs in development mode: on the CPU, with the bundled models, and marked so everywhere.",
  refused: (names) =>
    `Hardware: this host's GPU is not one that Helm may use (${names}); requests are served without it.`,
  allowed: (names) => `Hardware: ${names}.`,
};

/** What the start command prints when everything answers. */
export function summary({ urls, setupToken, setupOpen, hardware, stateDir }) {
  const names = hardware.names.join(", ");
  const lines = [
    "",
    "Helm is up.",
    "",
    `  Console      ${urls.console}`,
    ...(setupOpen ? [`  Setup token  ${setupToken}   (creates the first administrator, once)`] : []),
    `  Gateway      ${urls.gateway}/v1   (OpenAI-compatible; needs an API key from the console)`,
    `  Data, logs   ${stateDir.startsWith(ROOT) ? relative(ROOT, stateDir) : stateDir}`,
    "",
    `  ${HARDWARE[hardware.verdict](names)}`,
    "  Helm routing is beta and off until an administrator switches it on.",
    "",
    "  Stop it with Ctrl-C.",
  ];
  return lines.join("\n");
}
