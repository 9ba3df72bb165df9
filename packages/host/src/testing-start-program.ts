import { appendFileSync } from "node:fs";
import { acquireEngineStart } from "./engine-lease";

/** A process of a test: holds a device's start lock for a moment and gives it up, or is killed with it in its hands. */
const [, , directory = "", journal = "", mode] = process.argv;

const lease = await acquireEngineStart({
  directory,
  device: "cpu",
  purpose: `engine of ${process.pid}`,
  signal: new AbortController().signal,
  onWaiting: () => {},
});
appendFileSync(journal, `begin ${process.pid}\n`);
await new Promise((resolve) => setTimeout(resolve, 300));
appendFileSync(journal, `${mode === "die" ? "dies" : "end"} ${process.pid}\n`);
if (mode === "die") process.kill(process.pid, "SIGKILL");
await lease.release();
