import { describe, expect, it } from "vitest";
import { reachWords, unservedRoutes } from "./room-words";

const node = (name: string, running = 0) => ({ id: name, name, state: "SERVING" as const, running });
const worker = (name: string, nodes: ReturnType<typeof node>[], unserved: string[] = []) => ({
  name,
  machineKnown: true,
  nodes,
  unserved,
});

describe("what a drain reaches", () => {
  it("names the nodes of each worker's machine, and what runs there", () => {
    const workers = [worker("w1", [node("n1", 3), node("n2")], ["helm-auto"]), worker("w2", [])];
    expect(reachWords({ workers })).toBe(
      "Worker w1 drains the nodes n1 (3 running), n2. Worker w2: no connected node is on its machine, so nothing is drained.",
    );
    expect(unservedRoutes({ workers: [...workers, ...workers] })).toEqual(["helm-auto"]);
  });

  it("says what is not known", () => {
    expect(reachWords({ workers: [] })).toMatch(/^No worker/);
    expect(reachWords({ workers: [{ ...worker("w1", []), machineKnown: false }] })).toMatch(/which machine/);
  });
});
