import { expect, it } from "vitest";
import { auditFlags, wantedOf } from "./wanted";

it("takes a day as a whole day in UTC, the last one included", () => {
  const { since, until } = wantedOf({ since: "2026-11-29", until: "2026-11-30" });
  expect(since?.toISOString()).toBe("2026-11-29T00:00:00.000Z");
  expect(until?.toISOString()).toBe("2026-12-01T00:00:00.000Z");
});

it("asks for one kind of actor, and for none that there is not", () => {
  expect(wantedOf({ by: "person" }).actorKind).toBe("person");
  expect(wantedOf({ by: "everybody" }).actorKind).toBeUndefined();
});

it("leaves out what was not asked or is no day", () => {
  const asked = wantedOf({ actor: "", verb: "pair.refused", since: "yesterday" });
  expect(Object.values(asked).filter((value) => value !== undefined)).toEqual(["pair.refused"]);
});

it("writes the same question for a shell, a name with spaces and quotes as one word", () => {
  expect(auditFlags({ actor: "worker vm", verb: "host.join", since: "" })).toBe(
    " --actor 'worker vm' --verb host.join",
  );
  expect(auditFlags({ by: "person" })).toBe(" --by person");
  expect(auditFlags({ actor: "it's; rm" })).toBe(` --actor 'it'\\''s; rm'`);
});
