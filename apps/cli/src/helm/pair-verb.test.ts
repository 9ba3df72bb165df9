import { expect, it, vi } from "vitest";
import { lifeboat } from "../testing";

// Each run is a whole process.
vi.setConfig({ testTimeout: 120_000 });

const register = (...models: string[]) => lifeboat(["helm", "pair", "register", ...models]);

it("takes both models by place, by option, or one each way, and goes on to ask for a server", async () => {
  for (const models of [
    ["pilot", "target"],
    ["--source-model", "pilot", "--target-model", "target"],
    ["pilot", "--target-model", "target"],
  ]) {
    const { code, stderr } = await register(...models);
    expect(stderr).toContain("lifeboat login URL");
    expect(code).toBe(2);
  }
});

it("says what is missing, and what is named twice", async () => {
  expect((await register("pilot")).stderr).toContain("lifeboat helm pair register pilot TARGET");
  expect((await register()).stderr).toContain("lifeboat helm pair register SOURCE TARGET");
  const twice = await register("pilot", "target", "--source-model", "odd");
  expect(twice.stderr).toContain("pilot, and odd by --source-model");
  expect(twice.code).toBe(2);
});
