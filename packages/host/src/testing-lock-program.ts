import { readFile, writeFile } from "node:fs/promises";
import { withLeaseLock } from "./lease-lock";

/** A process of a test: counts in a file, forty times, each alone; or is killed while it is in. */
const [, , path = "", counter = "", mode] = process.argv;

if (mode === "die") {
  await withLeaseLock(path, async () => {
    process.kill(process.pid, "SIGKILL");
    await new Promise(() => setInterval(() => {}, 1000));
  });
}
for (let i = 0; i < 40; i++) {
  await withLeaseLock(path, async () => {
    const count = Number(await readFile(counter, "utf8"));
    await new Promise((resolve) => setImmediate(resolve));
    await writeFile(counter, String(count + 1));
  });
}
