import { appendFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { Outbox } from "./outbox";
import { temporaryFolder } from "./testing";

const parse = (value: unknown) => String(value);

it("numbers from 1, keeps what is not acknowledged over a restart and goes on counting", async () => {
  const directory = await temporaryFolder();
  const first = await Outbox.open(directory, "job", parse);
  expect(["a", "b", "c"].map((event) => first.append(event))).toEqual([1, 2, 3]);
  await first.flush();
  await first.ack(1);
  await first.close();
  expect(await Outbox.left(directory)).toEqual(["job"]);
  const second = await Outbox.open(directory, "job", parse);
  expect(second.pending(10)).toEqual([
    { seq: 2, event: "b" },
    { seq: 3, event: "c" },
  ]);
  expect(second.append("d")).toBe(4);
  await second.ack(4);
  expect(second.pending(10)).toEqual([]);
  await second.discard();
  expect(await readdir(directory)).toEqual([]);
});

it("drops a line that a crash cut and numbers on without a gap", async () => {
  const directory = await temporaryFolder();
  const first = await Outbox.open(directory, "job", parse);
  first.append("a");
  await first.close();
  await appendFile(join(directory, "job", "events.jsonl"), '{"seq":2,"ev');
  const second = await Outbox.open(directory, "job", parse);
  expect(second.append("b")).toBe(2);
  await second.close();
  const third = await Outbox.open(directory, "job", parse);
  expect(third.pending(5).map((record) => record.event)).toEqual(["a", "b"]);
  await third.close();
});

it("delivers every event once and in order, whatever is acknowledged and however often it restarts", async () => {
  const step = fc.oneof(fc.constant("append"), fc.constant("restart"), fc.integer({ min: 1, max: 5 }));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const directory = await temporaryFolder();
      let outbox = await Outbox.open(directory, "job", parse);
      const delivered: string[] = [];
      let made = 0;
      // A number is a batch of at most that many, acknowledged; the last one takes all that is left.
      for (const step of [...steps, "restart", 100]) {
        if (step === "append") outbox.append(`e${++made}`);
        else if (step === "restart") {
          await outbox.close();
          outbox = await Outbox.open(directory, "job", parse);
        } else {
          const batch = outbox.pending(Number(step));
          delivered.push(...batch.map((record) => record.event));
          await outbox.ack(batch.at(-1)?.seq ?? 0);
        }
      }
      await outbox.close();
      expect(delivered).toEqual(Array.from({ length: made }, (_, i) => `e${i + 1}`));
    }),
    { numRuns: 25 },
  );
});

it("refuses a name that leaves its folder", async () => {
  await expect(Outbox.open(await temporaryFolder(), "../x", parse)).rejects.toThrow();
});
