import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { locatePython, pythonEnvironment } from "@helm/host";
import { testKey } from "./test-gateway";

const folder = fileURLToPath(new URL("./python_client", import.meta.url));

/** Runs tests with the official Python client against a gateway; `keyword` is pytest's `-k`. */
export function runPythonClient(
  file: string,
  origin: string,
  keyword: string,
): Promise<{ code: number | null; output: string }> {
  const home = locatePython();
  const options = ["-q", "-p", "no:cacheprovider", "--rootdir", folder, "--import-mode", "importlib"];
  const child = spawn(home.python, ["-B", "-m", "pytest", ...options, "-k", keyword, `${folder}/${file}`], {
    env: { ...pythonEnvironment(home), HELM_TEST_URL: `${origin}/v1`, HELM_TEST_KEY: testKey },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (part: Buffer) => {
      output += part.toString();
    });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, output }));
  });
}
