import { appendFile, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { Outbox } from "./outbox";
import { temporaryFolder } from "./testing";
import { canMount, fillDisk, makeRoom, mountSmallDisk, unmount } from "./testing-disk";

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

const small = { maxBytes: 300, reserveBytes: 200 };

it("takes nothing that may be left out once it is full, keeps a reserve for the rest, and then says so", async () => {
  const outbox = await Outbox.open(await temporaryFolder(), "job", parse, small);
  const event = "x".repeat(60);
  const taken = Array.from({ length: 6 }, () => outbox.append(event, false));
  expect(taken).toEqual([1, 2, 3, null, null, null]);
  expect(outbox.append(event)).toBe(4);
  expect([outbox.append(event), outbox.append(event)]).toEqual([5, 6]);
  expect(() => outbox.append(event)).toThrow(expect.objectContaining({ code: "OUTBOX_FULL" }));
  expect(outbox.pendingBytes).toBeLessThanOrEqual(small.maxBytes + small.reserveBytes);
  // Once something was delivered there is room again, and no number is missing.
  await outbox.ack(4);
  expect(outbox.append(event, false)).toBe(7);
  expect(outbox.pending(9).map(({ seq }) => seq)).toEqual([5, 6, 7]);
  await outbox.close();
});

it("keeps its file as small as what waits", async () => {
  const directory = await temporaryFolder();
  const outbox = await Outbox.open(directory, "job", parse);
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 10; i++) outbox.append("y".repeat(50_000));
    await outbox.flush();
    await outbox.ack(outbox.lastSeq - 1);
  }
  await outbox.close();
  expect((await stat(join(directory, "job", "events.jsonl"))).size).toBeLessThan(1_700_000);
  const again = await Outbox.open(directory, "job", parse);
  expect(again.pending(99).map(({ seq }) => seq)).toEqual([50]);
  expect(again.append("z")).toBe(51);
  await again.close();
});

it.runIf(canMount())(
  "delivers from memory what a full disk did not take, and writes it once there is room",
  async () => {
    const directory = await temporaryFolder();
    const disk = mountSmallDisk(join(directory, "disk"), "256k");
    try {
      const outbox = await Outbox.open(disk, "job", parse);
      outbox.append("a");
      await outbox.flush();
      fillDisk(disk);
      const many = Array.from({ length: 12 }, (_, i) => `${i}-${"w".repeat(1000)}`);
      for (const event of many) outbox.append(event);
      await expect(outbox.flush()).rejects.toMatchObject({ code: "DISK_FULL" });
      expect(outbox.pending(99).map(({ event }) => event)).toEqual(["a", ...many]);
      await outbox.ack(3);
      expect(outbox.pending(1)).toEqual([{ seq: 4, event: many[2] }]);
      makeRoom(disk);
      await outbox.flush();
      await outbox.close();
      const again = await Outbox.open(disk, "job", parse);
      expect(again.pending(99).at(-1)).toEqual({ seq: 13, event: many[11] });
      await again.close();
    } finally {
      unmount(disk);
    }
  },
);

it("refuses a name that leaves its folder", async () => {
  await expect(Outbox.open(await temporaryFolder(), "../x", parse)).rejects.toThrow();
});
