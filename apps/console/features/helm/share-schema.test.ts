import { expect, test } from "vitest";
import { z } from "zod";
import { ShareShape } from "./share-schema";

const Shares = z.object(ShareShape);
const typed = { maxSwitches: "4", shareKept: "0.01", shareEscalated: "0", shareForced: "1" };

test("what was typed becomes numbers; none at all is 0 and not empty", () => {
  expect(Shares.parse(typed)).toEqual({ maxSwitches: 4, shareKept: 0.01, shareEscalated: 0, shareForced: 1 });
});

test.each([
  ["maxSwitches", "-1", "At least 0."],
  ["maxSwitches", "1.5", "A whole number."],
  ["shareKept", "1.1", "At most 1."],
  ["shareForced", "often", "A number."],
])("%s %s is refused with the bound", (field, value, message) => {
  const found = Shares.safeParse({ ...typed, [field]: value });
  expect(found.error?.issues.map((issue) => [issue.path[0], issue.message])).toEqual([[field, message]]);
});
