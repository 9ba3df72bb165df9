import { expect, it, vi } from "vitest";
import { lifeboat } from "../../testing";

// Each run is a whole process.
vi.setConfig({ testTimeout: 120_000 });

it("reads how many tokens at most before it looks for a server", async () => {
  const asked = await lifeboat(["helm", "playground", "ask", "Sort: 3 1 2", "--max-tokens", "many"]);
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("many is no number")]);
});
