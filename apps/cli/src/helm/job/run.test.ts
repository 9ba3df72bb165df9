import { describe, expect, it } from "vitest";
import { died, sentence } from "./run";

describe("the end of a job without a result", () => {
  it("is want of memory where the system or the C++ library ended it, whatever the job was", () => {
    expect(died({ code: null, signal: "SIGKILL" }, [])).toMatchObject({ code: "MEMORY_SHORT", exitCode: 6 });
    const log = ["terminate called after throwing an instance of 'std::bad_alloc'", "what()"];
    expect(died({ code: null, signal: "SIGABRT" }, log)).toMatchObject({ code: "MEMORY_SHORT", exitCode: 6 });
  });
  it("is the machinery's otherwise, with its last words", () => {
    const failure = died({ code: null, signal: "SIGABRT" }, ["assertion failed"]);
    expect(failure).toMatchObject({ code: "JOB_DIED", exitCode: 1 });
    expect(failure.message).toMatch(/SIGABRT .*assertion failed/);
  });
});

it("makes a sentence of a reason and leaves names as they are written", () => {
  expect(sentence("the corpus is empty")).toBe("The corpus is empty.");
  expect(sentence("config.json cannot be read!")).toBe("config.json cannot be read!");
});
