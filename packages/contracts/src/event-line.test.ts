import { expect, it } from "vitest";
import { eventLine } from "./event-line";

it("lists what a reader looks for afterwards, and not what is drawn", () => {
  const corpus = { name: "bundled", sha256: "fca6dfd9dbc37f33" };
  const started = { method: "renorm", k: 4, device: "cpu", corpus };
  expect(eventLine("started", started)?.message).toBe(
    "started: method renorm, k 4, device cpu, corpus bundled (sha256 fca6dfd9dbc3)",
  );
  expect(eventLine("stage", { stage: "capture", index: 1, of: 7 })?.message).toBe("stage capture (2 of 7)");
  expect(eventLine("metric", { name: "retention", arm: "zero_cache", value: 0.6523 })?.message).toBe(
    "retention of zero cache: 0.652",
  );
  expect(eventLine("failed", { code: "DISK_SHORT", message: "no room" })).toEqual({
    level: "error",
    message: "DISK_SHORT: no room",
  });
  for (const [type, body] of [
    ["progress", { percent: 3 }],
    ["counts", { arm: "mapper", n: 20 }],
    ["metric", { name: "layer_fit", layer: 0 }],
  ] as const)
    expect(eventLine(type, body)).toBeNull();
});

it("takes a body that is not as it should be", () => {
  expect(eventLine("log", {})).toEqual({ level: "info", message: "" });
  expect(eventLine("started", { corpus: 3 })?.message).toContain("started");
  expect(eventLine("result", { artifact: null })?.message).toBe("mapper written");
});
