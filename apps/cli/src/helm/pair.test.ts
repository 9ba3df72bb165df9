import { expect, it } from "vitest";
import type { Context } from "../context";
import type { Server } from "../server/client";
import { registerAndWait } from "./pair";

/** A double of the server: it lists these workers, and knows whether a registration was asked of it. */
function listing(workers: { connected: boolean; models: string[] }[]) {
  const asked: unknown[] = [];
  const server = {
    worker: { list: { query: async () => workers } },
    pair: {
      register: { mutate: async (input: unknown) => asked.push(input) && { registrationId: "r" } },
      registration: { query: async () => ({ state: "REGISTERED", pairId: "p" }) },
    },
  } as unknown as Server;
  return { server, asked };
}
const context = { screen: { note: () => undefined } } as unknown as Context;

it("refuses a model that no connected worker has, at once and with what there is", async () => {
  const { server, asked } = listing([
    { connected: true, models: ["pilot", "target"] },
    { connected: false, models: ["nosuch"] },
  ]);
  const tried = registerAndWait(context, server, "pilot", "nosuch");
  await expect(tried).rejects.toMatchObject({ exitCode: 5, code: "MODEL_UNKNOWN" });
  await expect(tried).rejects.toThrow(/nosuch.*pilot, target/);
  expect(asked).toEqual([]);
});

it("registers what a worker has, and waits where none is connected", async () => {
  const known = listing([{ connected: true, models: ["pilot", "target"] }]);
  expect(await registerAndWait(context, known.server, "pilot", "target")).toBe("p");
  const alone = listing([]);
  expect(await registerAndWait(context, alone.server, "pilot", "nosuch")).toBe("p");
});
