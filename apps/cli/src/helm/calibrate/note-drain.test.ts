import { expect, it } from "vitest";
import { drainLines } from "./note-drain";

it("says for each worker what it would drain, or why that is not known", () => {
  const node = { id: "n", name: "n1", state: "SERVING" as const, running: 2 };
  const worker = (name: string, machineKnown: boolean, nodes: (typeof node)[]) => ({
    name,
    machineKnown,
    nodes,
    unserved: [],
  });
  const workers = [worker("w1", true, [node]), worker("w2", true, []), worker("w3", false, [])];
  expect(drainLines({ workers })).toEqual([
    "Worker w1 would drain the node n1 (2 running).",
    "Worker w2 would drain nothing: no connected node is on its machine.",
    "Worker w3 does not say which machine it is on and is given no run that drains.",
  ]);
  expect(drainLines({ workers: [] })).toEqual([expect.stringMatching(/not known yet/)]);
});
