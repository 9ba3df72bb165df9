import { expect, it } from "vitest";
import { connectionNow, QUIET_AFTER_MS } from "./quiet";

it("is live only while the control plane is heard", () => {
  expect(connectionNow("live", 1_000, 2_000)).toBe("live");
  expect(connectionNow("live", 1_000, 1_000 + QUIET_AFTER_MS)).toBe("live");
  expect(connectionNow("live", 1_000, 1_001 + QUIET_AFTER_MS)).toBe("quiet");
});

it("says what the socket says where there is none, and has no age before anything was heard", () => {
  expect(connectionNow("reconnecting", 1_000, 60_000)).toBe("reconnecting");
  expect(connectionNow("connecting", null, 60_000)).toBe("connecting");
  expect(connectionNow("live", null, 60_000)).toBe("live");
});
