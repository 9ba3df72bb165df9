import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { MachineId } from "@helm/contracts";
import { expect, it } from "vitest";
import { machineId } from "./machine-id";

it("is one digest for all programs of a machine, and another where one is given", () => {
  const here = machineId();
  expect(MachineId.parse(here)).toBe(here);
  const path = fileURLToPath(new URL("./machine-id.ts", import.meta.url));
  const other = execFileSync(
    process.execPath,
    [
      "--import",
      "tsx",
      "--input-type=module",
      "-e",
      `import { machineId } from ${JSON.stringify(path)}; process.stdout.write(machineId());`,
    ],
    { encoding: "utf8", cwd: fileURLToPath(new URL(".", import.meta.url)) },
  );
  expect(other).toBe(here);
  expect(machineId("rack 7")).not.toBe(here);
  expect(machineId("rack 7")).not.toContain("rack");
  expect(machineId("rack 7")).toBe(machineId("rack 7"));
});
