import { expect, it } from "vitest";
import { choiceOfFields, fieldsOfChoice } from "./judge-table-schema";

it("turns a route's choice into fields and back", () => {
  for (const choice of [
    null,
    { id: "t", by: { escalation_rate: 0.3 } },
    { id: "t", by: { quality_floor: 0.95 } },
  ])
    expect(choiceOfFields(fieldsOfChoice(choice))).toEqual(choice);
});
