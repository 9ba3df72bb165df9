import type { Ladder } from "@helm/contracts";
import { expect, it } from "vitest";
import { command } from "./commands";

it("asks a recorded ladder again at its own gateway, for as many tokens", () => {
  const ladder = {
    gateway: "http://127.0.0.1:8010",
    model: "pilot",
    load: { max_tokens: 8 },
    rungs: [{ clients: 4 }, { clients: 8 }],
  } as unknown as Ladder;
  expect(command.ladderAgain(ladder, "8=20")).toBe(
    "npx lifeboat helm ladder --gateway http://127.0.0.1:8010 --model pilot --from 4 --to 8 --max-tokens 8 --targets 8=20 --record",
  );
});
