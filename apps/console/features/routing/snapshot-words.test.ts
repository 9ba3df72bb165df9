import { expect, it } from "vitest";
import { answersTo, causeWords } from "./snapshot-words";

it("says why a generation came to be", () => {
  expect(causeWords({ verbs: [], rolledBackTo: null })).toBe("written at a start");
  expect(causeWords({ verbs: ["route.update"], rolledBackTo: null })).toBe("changed a route");
  expect(causeWords({ verbs: ["snapshot.rollback"], rolledBackTo: 7 })).toBe("rolled back to 7");
  expect(causeWords({ verbs: ["route.update"], rolledBackTo: 7 })).toBe("changed a route, while held at 7");
  expect(causeWords({ verbs: ["new.verb"], rolledBackTo: null })).toBe("new.verb");
});

it("tells apart who acked, who refused and who said nothing", () => {
  const at = new Date();
  const ack = { nodeId: "1", node: "a", ok: true, reason: null, kept: null, at };
  const nack = { nodeId: "2", node: "b", ok: false, reason: "schema", kept: 4, at };
  const nodes = [
    { id: "1", name: "a", connected: true },
    { id: "3", name: "c", connected: false },
  ];
  expect(answersTo([nack, ack], nodes).map(({ node, kind }) => `${node} ${kind}`)).toEqual([
    "a acked",
    "b refused",
    "c silent",
  ]);
  expect(answersTo([nack], [])[0]?.words).toBe("refused it and keeps 4: schema");
});
