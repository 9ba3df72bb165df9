import { expect, it } from "vitest";
import { lengthWords, perSecond, proportionWords, reasonWords, requestsHref } from "./traffic-words";

it("says every reason in words, and an unknown one as it is", () => {
  expect(reasonWords("TIMEOUT")).toMatch(/too long/);
  expect(reasonWords("CONFIDENT")).toMatch(/good enough/);
  expect(reasonWords("never_fits")).not.toBe("never_fits");
  expect(reasonWords("client_gone")).toMatch(/went away/);
  expect(reasonWords("FROM_TOMORROW")).toBe("FROM_TOMORROW");
});

it("says a share with its interval, and nothing as nothing", () => {
  expect(proportionWords({ count: 20, of: 90, share: 0.2222, low: 0.149, high: 0.318 })).toEqual({
    value: "22.2 %",
    interval: "95 % interval 14.9 to 31.8 %, 20 of 90",
  });
  expect(proportionWords(null).value).toBe("none yet");
  expect(proportionWords(null, "judged").interval).toBe("nothing judged in this range");
});

it("leads from a reason to its requests, in the same range", () => {
  expect(requestsHref({ hours: 6, pair: "p" }, { reason: "TIMEOUT" })).toBe(
    "/traffic?hours=6&pair=p&reason=TIMEOUT#requests",
  );
});

it("says lengths and rates as people read them", () => {
  expect(lengthWords(1024)).toBe("1,024 to 2,047");
  expect(lengthWords(1)).toBe("1 token");
  expect(perSecond(18_204, 1)).toBe("5.1 a second");
  expect(perSecond(10, 1)).toBe("10 requests an hour");
});
