import { describe, expect, it } from "vitest";
import cases from "./cases/hardware.json";
import more from "./cases/hardware-more.json";
import { hardwareVerdict, hostVerdict } from "./hardware";

const VERDICT: Record<string, string> = { ok: "allowed", refused: "refused", none: "none" };

describe("the hardware gate", () => {
  it.each([...cases, ...more])("$name ($capability) is $verdict", ({ verdict, ...device }) => {
    const result = hardwareVerdict(device);
    expect(result.verdict).toBe(VERDICT[verdict]);
    expect(result.sentence.length).toBeGreaterThan(10);
  });

  it.each([
    ["nvidia", "12.0", "allowed"],
    ["nvidia", "10.3", "allowed"],
    ["nvidia", "unknown", "refused"],
    ["nvidia", "", "refused"],
    ["amd", "gfx90a:sramecc+:xnack-", "allowed"],
    ["amd", "gfx950", "allowed"],
    ["amd", "gfx908", "allowed"],
    ["amd", "gfx906", "refused"],
    ["amd", "gfx1201", "refused"],
    ["amd", null, "refused"],
    ["amd", "9.4", "refused"],
    ["intel", "12.55", "refused"],
  ] as const)("%s with %s is %s", (vendor, capability, verdict) => {
    expect(hardwareVerdict({ vendor, name: "a device", capability }).verdict).toBe(verdict);
  });

  it("says why a GPU could not be read", () => {
    const device = {
      vendor: "nvidia",
      name: "NVIDIA GPU",
      capability: null,
      problem: "NVML error 18: reboot",
    };
    expect(hardwareVerdict(device).sentence).toContain("(NVML error 18: reboot)");
    expect(hostVerdict([device]).verdict).toBe("refused");
  });

  it("takes a host by its best device", () => {
    const small = { vendor: "nvidia", name: "T4", capability: "7.5" };
    const large = { vendor: "nvidia", name: "L4", capability: "8.9" };
    expect(hostVerdict([small, large]).verdict).toBe("allowed");
    expect(hostVerdict([small]).verdict).toBe("refused");
    expect(hostVerdict([]).verdict).toBe("none");
  });
});
