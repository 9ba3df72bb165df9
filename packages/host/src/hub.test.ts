import { describe, expect, it } from "vitest";
import { z } from "zod";
import { parseEnvironment, redacted } from "./environment";
import { HubEnvironment, hubEnvironment, readHub } from "./hub";
import { pythonEnvironment } from "./python";

const read = (environment: NodeJS.ProcessEnv) =>
  readHub(parseEnvironment(z.object(HubEnvironment), environment));

describe("the hub of a host", () => {
  it("is the public one, the operator's, or none", () => {
    expect(read({})?.endpoint).toBe("https://huggingface.co");
    expect(read({ HF_ENDPOINT: "https://mirror.example" })?.endpoint).toBe("https://mirror.example");
    const own = { HF_ENDPOINT: "https://mirror.example", HELM_HUB_ENDPOINT: "http://127.0.0.1:9" };
    expect(read(own)?.endpoint).toBe("http://127.0.0.1:9");
    expect(read({ HELM_HUB_ENDPOINT: "off", HF_ENDPOINT: "https://mirror.example" })).toBeNull();
    expect(() => read({ HELM_HUB_ENDPOINT: "file:///etc" })).toThrow(/HELM_HUB_ENDPOINT/);
  });

  it("and its token reach only the job that needs them", () => {
    const home = { python: "python", source: "src" };
    const environment = { HF_TOKEN: "secret", HF_ENDPOINT: "https://mirror.example", PATH: "/bin" };
    const plain = pythonEnvironment(home, environment);
    expect(plain).not.toHaveProperty("HF_TOKEN");
    expect(plain).not.toHaveProperty("HF_ENDPOINT");
    expect(plain.HF_HUB_OFFLINE).toBe("1");
    const hub = read({ ...environment, HTTPS_PROXY: "http://user:word@proxy.example" });
    expect(JSON.stringify(redacted({ hub }))).not.toMatch(/secret|word/);
    expect(hub && hubEnvironment(hub)).toEqual({
      HELM_HUB_ENDPOINT: "https://mirror.example",
      HF_TOKEN: "secret",
      HTTPS_PROXY: "http://user:word@proxy.example",
    });
  });
});
