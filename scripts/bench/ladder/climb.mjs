import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ROOT } from "../../lib/paths.mjs";
import { Sorry } from "../../lib/sorry.mjs";

/** `lifeboat helm ladder` as a user runs it; gives the ladder that it prints. */
export async function climb({ gateway, key, to, maxTokens, say }) {
  const options = [
    "--gateway",
    gateway,
    "--model",
    "pilot",
    "--to",
    String(to),
    "--max-tokens",
    String(maxTokens),
    "--json",
  ];
  const child = spawn(
    process.execPath,
    [join(ROOT, "apps/cli/bin/lifeboat.mjs"), "helm", "ladder", ...options],
    {
      env: { ...process.env, LIFEBOAT_API_KEY: key },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let ladder = null;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const event = JSON.parse(line);
    if (event.type === "ladder") ladder = event;
    if (event.type === "rung")
      say(
        `${event.clients} clients: ${event.correct} of ${event.requests} correct, ${(event.correct / event.seconds).toFixed(1)}/s`,
      );
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0 || ladder === null) throw new Sorry(`lifeboat helm ladder ended with ${code}.`);
  return ladder;
}
