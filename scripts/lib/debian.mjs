import { existsSync } from "node:fs";
import { run } from "./command.mjs";
import { step } from "./progress.mjs";
import { Sorry } from "./sorry.mjs";

const isDebian = () => existsSync("/etc/debian_version") && existsSync("/usr/bin/apt-get");

/** Installs Debian packages as root on Debian; elsewhere stops with the line that does it. */
export async function installOrSay({ missing, debian, brew }) {
  if (!isDebian() || process.getuid?.() !== 0) {
    const line = process.platform === "darwin" ? brew : `sudo apt-get install -y ${debian.join(" ")}`;
    const where =
      process.platform === "darwin" || isDebian()
        ? ""
        : " (on Debian and Ubuntu; other systems name it alike)";
    throw new Sorry(`${missing} is missing. Install it with: ${line}${where}`);
  }
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  await step(`Installing ${debian.join(", ")} with apt-get`, async () => {
    await run("apt-get", ["update"], { log: "apt-update", env });
    await run("apt-get", ["install", "-y", "--no-install-recommends", ...debian], {
      log: "apt-install",
      env,
    });
  });
}
