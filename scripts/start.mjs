// npm start: installs what is missing, builds what changed, brings Helm up and prints where it is.
import { endActive } from "./lib/command.mjs";
import { ensureBuilt, ensureInstalled } from "./lib/ensure-all.mjs";
import { ensureNodeVersion } from "./lib/ensure-node.mjs";
import { STATE } from "./lib/paths.mjs";
import { AlreadyRunning, startProduct } from "./lib/product.mjs";
import { findRunning } from "./lib/running.mjs";
import { main } from "./lib/sorry.mjs";
import { summary } from "./lib/summary.mjs";

const dev = process.argv.includes("--dev");

await main(async () => {
  ensureNodeVersion();
  const running = findRunning(STATE);
  if (running) return sayRunning(running);

  console.log(dev ? "Helm, with reload" : "Helm");
  const stopping = new AbortController();
  const signals = watchSignals(stopping);
  stopping.signal.addEventListener("abort", endActive, { once: true });

  let product;
  let failed = false;
  try {
    await ensureInstalled();
    await ensureBuilt({ console: !dev });
    stopping.signal.throwIfAborted();
    product = await startProduct({
      dev,
      seed: process.env.HELM_SEED || "bundled",
      signal: stopping.signal,
      onLine: (line) => console.log(`  ✓ ${line}`),
      onEnded: (name, how, tail) => {
        if (stopping.signal.aborted) return;
        console.error(`\nThe ${name} ${how}; Helm stops. The end of its log:\n${tail}`);
        failed = true;
        stopping.abort();
      },
    });
  } catch (error) {
    if (error instanceof AlreadyRunning) return sayRunning(error.record);
    if (!stopping.signal.aborted) throw error;
    console.log("Stopped.");
    process.exit(failed ? 1 : 0);
  }
  console.log(summary(product));
  await signals;
  console.log("\nStopping …");
  await product.stop();
  console.log("Stopped. Nothing of Helm runs any more.");
  process.exit(failed ? 1 : 0);
});

function sayRunning({ pid, urls }) {
  const where = urls?.console ? ` Console: ${urls.console}` : " It is still starting.";
  console.log(
    `Helm runs already (process ${pid}).${where} Stop it with Ctrl-C where it was started, or: kill ${pid}`,
  );
}

// npm passes Ctrl-C on as well, so one key press may arrive twice: later ones change nothing.
function watchSignals(stopping) {
  return new Promise((resolve) => {
    stopping.signal.addEventListener("abort", resolve, { once: true });
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => stopping.abort());
    // An npm that is killed takes nobody along.
    const parent = process.ppid;
    if (process.env.npm_lifecycle_event)
      setInterval(() => process.ppid !== parent && stopping.abort(), 1_000).unref();
  });
}
