import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { parseEnvironment, redacted } from "./environment";
import { processStart } from "./process-identity";
import { temporaryFolder } from "./testing";

it("notices that its parent is gone", { timeout: 120_000 }, async () => {
  const folder = await temporaryFolder();
  const script = join(folder, "child.mts");
  const { writeFile } = await import("node:fs/promises");
  const watch = new URL("./parent-watch.ts", import.meta.url).pathname;
  await writeFile(
    script,
    `import { watchParent } from ${JSON.stringify(watch)};
    watchParent(Number(process.env.HELM_PARENT_PID), () => process.exit(0), 50); setTimeout(() => {}, 60000);`,
  );
  const tsx = new URL("../../../node_modules/tsx/dist/loader.mjs", import.meta.url).pathname;
  const pidFile = join(folder, "pid");
  const shell = `HELM_PARENT_PID=$$ ${process.execPath} --import ${tsx} ${script} & echo $! > ${pidFile}; sleep 60`;
  const parent = execFile("sh", ["-c", shell]);
  await expect
    .poll(async () => (await readFile(pidFile, "utf8").catch(() => "")).trim(), { timeout: 30_000 })
    .not.toBe("");
  const child = Number(await readFile(pidFile, "utf8"));
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(processStart(child)).not.toBeNull();
  parent.kill("SIGKILL");
  await expect.poll(() => processStart(child), { timeout: 60_000 }).toBeNull();
});

it("names every wrong variable, and shows no secret", () => {
  const schema = z.object({ HELM_PORT: z.coerce.number(), HELM_JOIN_TOKEN: z.string() });
  expect(() => parseEnvironment(schema, { HELM_PORT: "x", HELM_JOIN_TOKEN: "" })).toThrow(
    /HELM_PORT: "x" is no number.*HELM_JOIN_TOKEN/,
  );
  expect(redacted({ HELM_PORT: 1, HELM_JOIN_TOKEN: "t" })).toEqual({
    HELM_PORT: 1,
    HELM_JOIN_TOKEN: "[redacted]",
  });
});
