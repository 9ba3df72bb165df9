import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processStart, readDeviceUse } from "@helm/host";
import fc from "fast-check";
import pino from "pino";
import { expect, it, onTestFinished } from "vitest";
import { engineDouble } from "../testing/engine-double";
import { EngineSupervisor } from "./engine-supervisor";
import { parkState } from "./park-states";
import { ParkableEngine } from "./parkable-engine";

const within = { timeout: 20_000 };
const turns = () => new Promise((resolve) => setTimeout(resolve, 0));

it("leaves no process and no place on the device while it is parked, and starts another afterwards", async () => {
  const folder = await mkdtemp(join(tmpdir(), "helm-park-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const settings = await engineDouble(join(folder, "a"));
  const seen: boolean[] = [];
  const engine = new ParkableEngine(
    () => new EngineSupervisor(settings, pino({ level: "silent" }), () => {}),
    (parked) => void seen.push(parked),
  );
  onTestFinished(() => engine.stop());
  engine.run();
  await expect.poll(() => engine.running?.current, within).toBeTruthy();
  const pid = engine.running?.pid ?? 0;
  engine.park();
  await expect.poll(() => seen, within).toEqual([false, true]);
  expect(engine.running).toBeNull();
  expect(processStart(pid)).toBeNull();
  expect((await readDeviceUse(settings.lease)).engines).toEqual([]);
  engine.run();
  await expect.poll(() => engine.running?.current, within).toBeTruthy();
  expect(engine.running?.pid).not.toBe(pid);
});

it("ends as it was wished last, with one life at a time, whatever was wished meanwhile", async () => {
  const wish = fc.constantFrom("run", "park", "wait", "stopped");
  await fc.assert(
    fc.asyncProperty(fc.array(wish, { maxLength: 30 }), async (wishes) => {
      let lives = 0;
      const stops: (() => void)[] = [];
      const told: boolean[] = [];
      const life = () => ({
        start: () => {
          lives += 1;
          expect(lives).toBe(1);
        },
        stop: () =>
          new Promise<void>((resolve) =>
            stops.push(() => {
              lives -= 1;
              resolve();
            }),
          ),
      });
      const engine = new ParkableEngine(life, (parked) => void told.push(parked));
      let last: string = "park";
      for (const one of wishes) {
        if (one === "run") engine.run();
        else if (one === "park") engine.park();
        else if (one === "stopped") stops.shift()?.();
        else await turns();
        if (one === "run" || one === "park") last = one;
      }
      for (let i = 0; i < 5; i++) {
        await turns();
        stops.shift()?.();
      }
      await turns();
      expect(engine.running === null).toBe(last === "park");
      expect(lives).toBe(last === "park" ? 0 : 1);
      for (const [at, parked] of told.entries()) expect(parked).toBe(at % 2 === 1);
      const stopped = engine.stop();
      await turns();
      stops.shift()?.();
      await stopped;
      engine.run();
      await turns();
      expect(lives).toBe(0);
    }),
    { numRuns: 60 },
  );
});

it("knows no way from being parked to running but over the end of what ran", () => {
  expect(() => parkState("PARKING", "RUNNING")).toThrow();
  expect(() => parkState("RUNNING", "PARKED")).toThrow();
});
