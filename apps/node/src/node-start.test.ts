import { describe, expect, it } from "vitest";
import { moveEngine } from "./engine/engine-states";
import { readConfig } from "./environment";
import { chooseHardware, HardwareRefused } from "./hardware";

const h200 = { vendor: "nvidia" as const, name: "NVIDIA H200", capability: "9.0" };
const old = { vendor: "nvidia" as const, name: "Tesla T4", capability: "7.5" };
const mi210 = { vendor: "amd" as const, name: "MI210", capability: "gfx90a" };

describe("what a node runs on", () => {
  it("takes the CPU only where it was named and there is nothing else", () => {
    expect(chooseHardware([], "cpu")).toMatchObject({ verdict: "none", device: "cpu", development: true });
    expect(() => chooseHardware([], "auto")).toThrow(HardwareRefused);
    expect(() => chooseHardware([h200], "cpu")).toThrow(HardwareRefused);
  });

  it("prefers an allowed GPU, and serves without Helm on a refused one", () => {
    expect(chooseHardware([old, h200], "auto")).toMatchObject({ verdict: "allowed", device: "cuda" });
    expect(chooseHardware([mi210], "auto")).toMatchObject({ verdict: "allowed", device: "rocm" });
    expect(chooseHardware([old], "auto")).toMatchObject({ verdict: "refused", development: false });
    expect(() => chooseHardware([h200], "rocm")).toThrow(HardwareRefused);
  });
});

describe("the environment", () => {
  it("has defaults for a checkout", () => {
    const config = readConfig({});
    expect(config.models.map((model) => model.name)).toEqual(["pilot", "target"]);
    expect([config.port, config.bind]).toEqual([8000, "127.0.0.1"]);
  });

  it("names what is wrong", () => {
    expect(() => readConfig({ HELM_GATEWAY_PORT: "x" })).toThrow(/HELM_GATEWAY_PORT/);
    expect(() => readConfig({ HELM_ENGINE_MODELS: "pilot" })).toThrow(/NAME=FOLDER/);
  });

  it("takes a token for the metrics that cannot be guessed", () => {
    expect(() => readConfig({ HELM_METRICS_TOKEN: "short" })).toThrow(/HELM_METRICS_TOKEN/);
    expect(readConfig({ HELM_METRICS_TOKEN: "0123456789abcdef" }).metricsToken).toBe("0123456789abcdef");
  });

  it("does not open the gateway beyond this machine without TLS in front", () => {
    expect(() => readConfig({ HELM_GATEWAY_BIND: "0.0.0.0" })).toThrow(/TLS/);
    expect(() => readConfig({ HELM_GATEWAY_BIND: "0.0.0.0", HELM_NODE_URL: "http://a.example" })).toThrow(
      /TLS/,
    );
    expect(readConfig({ HELM_GATEWAY_BIND: "0.0.0.0", HELM_NODE_URL: "https://a.example" }).bind).toBe(
      "0.0.0.0",
    );
  });
});

it("lets an engine serve only after it was started", () => {
  expect(moveEngine("STARTING", "SERVING")).toBe("SERVING");
  expect(() => moveEngine("STOPPED", "SERVING")).toThrow();
  expect(() => moveEngine("BACKING_OFF", "SERVING")).toThrow();
});
