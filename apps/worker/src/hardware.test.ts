import { describe, expect, it } from "vitest";
import { chooseHardware } from "./hardware";

const h200 = { vendor: "nvidia" as const, name: "NVIDIA H200", capability: "9.0", uuid: "GPU-1" };
const t4 = { vendor: "nvidia" as const, name: "Tesla T4", capability: "7.5" };
const mi300 = { vendor: "amd" as const, name: "AMD Instinct MI300X", capability: "gfx942" };

describe("what a worker offers", () => {
  it("is a CPU only where it was asked for and there is no accelerator", () => {
    expect(chooseHardware([], "cpu")).toMatchObject({ verdict: "none", device: "cpu", leaseName: "cpu" });
    expect(() => chooseHardware([], "auto")).toThrow(/HELM_DEVICE=cpu/);
    expect(() => chooseHardware([h200], "cpu")).toThrow(/without an accelerator/);
    expect(() => chooseHardware([t4], "cpu")).toThrow(/7\.5/);
  });
  it("is the allowed GPU, leased by its UUID", () => {
    expect(chooseHardware([t4, h200], "auto")).toMatchObject({ device: "cuda", leaseName: "GPU-1" });
    expect(chooseHardware([mi300], "auto")).toMatchObject({ device: "rocm" });
    expect(() => chooseHardware([mi300], "cuda")).toThrow(/names no allowed GPU/);
  });
});
