import type { Services } from "../context";
import { importRecordedRun } from "./import-run";

const AGAIN_MS = 2_000;

/** Recorded runs follow once a worker's inspection has made their pairs; one after the other, until none is left. */
export function importWhenRegistered(services: Services): { stop: () => Promise<void> } {
  let stopped = false;
  const run = async (): Promise<void> => {
    let left = services.config.seeds.filter((scenario) => scenario !== "bundled");
    while (left.length > 0 && !stopped) {
      const outcomes = new Map<string, "done" | "waiting">();
      for (const scenario of left) {
        const outcome = await importRecordedRun(services, scenario).catch((error: unknown) => {
          services.log.warn({ err: error, scenario }, "a recorded run was not imported; it is tried again");
          return "waiting" as const;
        });
        outcomes.set(scenario, outcome);
      }
      left = left.filter((scenario) => outcomes.get(scenario) === "waiting");
      if (left.length > 0 && !stopped) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  };
  const running = run();
  return {
    stop: async () => {
      stopped = true;
      await running;
    },
  };
}
