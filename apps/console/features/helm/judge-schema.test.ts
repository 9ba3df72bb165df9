import { zodResolver } from "@hookform/resolvers/zod";
import { expect, test } from "vitest";
import { z } from "zod";
import { JudgeOverridesShape, JudgeShape } from "./judge-schema";

const Route = z.object(JudgeShape);
const Overrides = z.object(JudgeOverridesShape);
const typed = { meanLogprob: "-0.5", minLogprob: "-3", streaming: "window", window: "64" };

test("what was typed becomes numbers, for a route and for a tenant alike", () => {
  const values = { meanLogprob: -0.5, minLogprob: -3, streaming: "window", window: 64 };
  expect(Route.parse(typed)).toEqual(values);
  expect(Overrides.parse(typed)).toEqual(values);
});

test("an empty field is left to the route by a tenant, never the number 0", () => {
  const empty = { meanLogprob: "", minLogprob: "", streaming: "", window: "" };
  expect(Overrides.parse(empty)).toEqual({
    meanLogprob: null,
    minLogprob: null,
    streaming: null,
    window: null,
  });
});

/** The message that stands at the field, by the resolver that the forms use. */
async function messageAt(schema: z.ZodType, field: string, value: string) {
  const check = zodResolver(schema as never);
  const options = { fields: {}, shouldUseNativeValidation: false };
  const { errors } = await check({ ...typed, [field]: value } as never, undefined, options as never);
  return Object.entries(errors).map(([at, error]) => [at, (error as { message: string }).message]);
}

test.each([
  ["meanLogprob", "0.1", "At most 0."],
  ["minLogprob", "-101", "At least -100."],
  ["window", "1.5", "A whole number."],
  ["window", "5000", "At most 4,096."],
  ["window", "many", "A number."],
])("%s %s is refused with the bound, for a route and for a tenant", async (field, value, message) => {
  expect(await messageAt(Route, field, value)).toEqual([[field, message]]);
  expect(await messageAt(Overrides, field, value)).toEqual([[field, message]]);
});
