import { spawn, spawnSync } from "node:child_process";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import type { S3Settings } from "../artifact/s3-store";

const PYTHON = "/usr/bin/python3";
const SCRIPT = fileURLToPath(new URL("swift_server.py", import.meta.url));
const NOBODY = 65534;
const ACCESS = "test:helm";
export const SECRET = "a-secret-of-the-tests-alone";

// The SDK tells of its plans for Node at every first use; a test's output is not the place.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = "true";

/** Null where Swift can be started, else why not. */
export function whyNoSwift(): string | null {
  const found = spawnSync(PYTHON, [
    "-c",
    "import swift.proxy.server, swift.obj.server, swift.container.server",
  ]);
  if (found.status === 0) return null;
  return "swift-proxy, swift-account, swift-container and swift-object are not installed";
}

export type Swift = Awaited<ReturnType<typeof startSwift>>;

/** A whole Swift of the test's own, as an unprivileged process where this one is root. */
export async function startSwift() {
  const folder = await mkdtemp(join(tmpdir(), "helm-swift-"));
  const root = process.getuid?.() === 0;
  if (root) await chmod(folder, 0o777);
  const child = spawn(PYTHON, [SCRIPT, folder, ACCESS, SECRET], {
    stdio: ["pipe", "pipe", "pipe"],
    ...(root && { uid: NOBODY, gid: NOBODY }),
  });
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors = `${errors}${chunk}`.slice(-4_000);
  });
  const port = await new Promise<number>((resolve, reject) => {
    createInterface(child.stdout).once("line", (line) => resolve(Number(line)));
    child.once("exit", (code) => reject(new Error(`Swift ended with ${code}: ${errors}`)));
  });
  const endpoint = `http://127.0.0.1:${port}`;
  const credentials = { accessKeyId: ACCESS, secretAccessKey: SECRET };
  let buckets = 0;
  return {
    endpoint,
    /** A bucket that nobody else uses. */
    bucket: async (changes: Partial<S3Settings> = {}): Promise<S3Settings> => {
      buckets += 1;
      const bucket = `helm-${buckets}`;
      const client = new S3Client({ endpoint, region: "us-east-1", forcePathStyle: true, credentials });
      await client.send(new CreateBucketCommand({ Bucket: bucket }));
      client.destroy();
      return { endpoint, region: "us-east-1", bucket, prefix: "", pathStyle: true, credentials, ...changes };
    },
    stop: async () => {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.stdin.end();
      child.kill("SIGKILL");
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
