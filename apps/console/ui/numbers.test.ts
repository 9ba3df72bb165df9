import { expect, it } from "vitest";
import { bytes, milliseconds, percent, plural, share, signed } from "./numbers";

it("writes sizes in powers of 1024, and what is not known as such", () => {
  expect([0, 1023, 1024, 3_250_000, 150 * 1024 ** 3].map(bytes)).toEqual([
    "0 B",
    "1023 B",
    "1.0 KiB",
    "3.1 MiB",
    "150 GiB",
  ]);
  expect(bytes(null)).toBe("unknown");
});

it("writes times in ms with as many places as they are worth", () => {
  expect([0.5, 12.34, 1234.5].map(milliseconds)).toEqual(["0.50 ms", "12.3 ms", "1,235 ms"]);
  expect(milliseconds(undefined)).toBe("not measured");
});

it("keeps columns of shares in line", () => {
  expect([share(1), share(0.98765), percent(0.0123), signed(-0.5)]).toEqual([
    "1.000",
    "0.988",
    "1.2 %",
    "\u22120.50",
  ]);
});

it("counts one thing as one", () => {
  expect([plural(1, "pair"), plural(4096, "pair"), plural(0, "entry", "entries")]).toEqual([
    "1 pair",
    "4,096 pairs",
    "0 entries",
  ]);
});
