import { expect, it } from "vitest";
import { toCsv } from "./csv";

it("quotes what needs it and defuses formulas", () => {
  expect(
    toCsv(
      ["a", "b"],
      [
        ['say "hi", you', "=1+1"],
        [null, -3],
      ],
    ),
  ).toBe('a,b\r\n"say ""hi"", you",\'=1+1\r\n,-3\r\n');
});
