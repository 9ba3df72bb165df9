import { ensureBuilt } from "../scripts/lib/ensure-all.mjs";
import { ensureChromium } from "../scripts/lib/ensure-chromium.mjs";
import { bringUp } from "./global-setup";

const SCENARIOS = "bundled,cleared,below-stricter-gate";

/** Builds what changed, then the product with recorded runs in it: measured pages without waiting for a calibration. */
export default async function screensSetup(): Promise<() => Promise<void>> {
  await ensureBuilt();
  const chromium = await ensureChromium();
  if (chromium) process.env.HELM_CHROMIUM = chromium;
  return bringUp(process.env.HELM_SEED || SCENARIOS);
}
