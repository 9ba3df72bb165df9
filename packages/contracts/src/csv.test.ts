import { describe, expect, it } from "vitest";
import { csvLine, toCsv } from "./csv";

it("quotes what needs it, writes times in UTC and leaves nothing where nothing is", () => {
  expect(
    toCsv(
      ["a", "b"],
      [
        ['say "hi", you', new Date("2026-11-30T12:00:00+02:00")],
        [null, "two\r\nlines"],
      ],
    ),
  ).toBe('a,b\r\n"say ""hi"", you",2026-11-30T10:00:00.000Z\r\n,"two\r\nlines"\r\n');
});

describe("what a spreadsheet would run", () => {
  it.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\n=1", "  =cmd|' /C calc'!A0", "\uff1d1"])(
    "%j",
    (text) => {
      expect(csvLine([text]).replace(/^"/, "")).toMatch(/^'/);
    },
  );

  it("but a number stays a number", () => {
    expect(csvLine([-3, 0.95, true])).toBe("-3,0.95,true\r\n");
  });
});
