import { spawnSync } from "node:child_process";
import { installOrSay } from "./debian.mjs";

const PACKAGES = ["swift-proxy", "swift-account", "swift-container", "swift-object"];
const PARTS = "import swift.proxy.server, swift.account.server, swift.container.server, swift.obj.server";

/** OpenStack Swift, whose S3 interface the artifact store is tested against; the test starts it itself. */
export async function ensureSwift() {
  if (spawnSync("/usr/bin/python3", ["-c", PARTS]).status === 0) return;
  await installOrSay({
    missing: "OpenStack Swift (for the tests against a real S3 interface)",
    debian: PACKAGES,
    brew: "# OpenStack Swift has no formula; these tests run on Debian and Ubuntu",
  });
}
