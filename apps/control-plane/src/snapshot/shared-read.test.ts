import { expect, it } from "vitest";
import { SharedRead } from "./shared-read";

it("reads once for all who ask in one moment, and anew for who asks once it has begun", async () => {
  const reads: string[][] = [];
  let state = 1;
  const shared = new SharedRead(async (keys: string[]) => {
    reads.push(keys);
    const seen = state;
    await new Promise((resolve) => setImmediate(resolve));
    return new Map(keys.map((key) => [key, `${key}${seen}`]));
  });
  const first = [shared.get("a"), shared.get("b"), shared.get("a")];
  await new Promise((resolve) => setImmediate(resolve));
  // The read has begun: a change now is not in it, and who asks because of it must not be given it.
  state = 2;
  const later = shared.get("a");
  expect(await Promise.all(first)).toEqual(["a1", "b1", "a1"]);
  expect(await later).toBe("a2");
  expect(reads).toEqual([["a", "b"], ["a"]]);
});

it("tells every asker of a read that failed, and reads again for the next", async () => {
  let broken = true;
  const shared = new SharedRead<string, string>(async (keys) => {
    if (broken) throw new Error("away");
    return new Map(keys.map((key) => [key, key]));
  });
  const both = await Promise.allSettled([shared.get("a"), shared.get("b")]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  broken = false;
  expect([await shared.get("a"), await shared.get("b")]).toEqual(["a", "b"]);
});
