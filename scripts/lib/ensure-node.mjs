import { existsSync } from "node:fs";
import { join } from "node:path";
import { run } from "./command.mjs";
import { ROOT } from "./paths.mjs";
import { Sorry } from "./sorry.mjs";
import { digestOf, once } from "./stamp.mjs";

const LEAST = [20, 19];

export function ensureNodeVersion() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1])) return;
  throw new Sorry(
    `Node ${LEAST.join(".")} or newer is needed; this is ${process.versions.node}. Install it from your system or nodejs.org.`,
  );
}

/** Installs the Node packages when the lock file is not the one that was installed. */
export async function ensureNodePackages() {
  const modules = join(ROOT, "node_modules");
  const fresh = !existsSync(modules);
  await once({
    title: "Installing Node packages",
    stamp: join(modules, ".helm-installed"),
    digest: () =>
      digestOf([join(ROOT, "package-lock.json")], [process.version, process.platform, process.arch]),
    rewritesInputs: true,
    // Install scripts only download or check things that are here already; see docs/decisions.
    work: () =>
      run(
        "npm",
        [fresh ? "ci" : "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
        {
          log: "npm-install",
          hint: "Is the npm registry reachable? ",
        },
      ),
  });
}
