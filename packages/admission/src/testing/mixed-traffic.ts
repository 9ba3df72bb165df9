import type { AdmissionAsk } from "../admission";
import { AdmissionGate } from "../admission-gate";
import { VirtualClock } from "./virtual-clock";

export interface Mixed {
  capacity: number;
  short: { bytes: number; ms: number; clients: number };
  /** `readMs`: so long its prompt is read, and short ones under way get no further. */
  long: { bytes: number; ms: number; readMs: number; clients: number };
  deadlineMs: number;
  forMs: number;
}

export interface MixedResult {
  shorts: { served: number; refused: number; longestWaitMs: number };
  longs: { served: number; refused: number; broken: number };
  /** Moments at which a short one waited although one more would have left the large ones theirs. */
  idleMoments: number;
}

const TICK_MS = 5;
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Clients that ask again as soon as they were answered, on a virtual clock; a refused large one comes back as it was told. */
export async function runMixed({ capacity, short, long, deadlineMs, forMs }: Mixed): Promise<MixedResult> {
  const clock = new VirtualClock();
  const gate = new AdmissionGate(capacity, 1_000, clock);
  const sleep = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
  const result: MixedResult = {
    shorts: { served: 0, refused: 0, longestWaitMs: 0 },
    longs: { served: 0, refused: 0, broken: 0 },
    idleMoments: 0,
  };
  let [over, waitingShorts, shortsHeld, readUntil] = [false, 0, 0, 0];

  const ask = (bytes: number, ticket: string | null) =>
    gate.admit({ tenant: "a", bytes, deadlineMs, ticket } satisfies AdmissionAsk);
  const shortClient = async () => {
    while (!over) {
      waitingShorts += 1;
      const admission = await ask(short.bytes, null);
      waitingShorts -= 1;
      if (admission.outcome !== "admitted") {
        result.shorts.refused += 1;
        continue;
      }
      result.shorts.longestWaitMs = Math.max(result.shorts.longestWaitMs, admission.waited_ms);
      shortsHeld += short.bytes;
      await sleep(short.ms);
      if (readUntil > clock.now()) await sleep(readUntil - clock.now());
      shortsHeld -= short.bytes;
      admission.reservation.release();
      result.shorts.served += 1;
    }
  };
  const longClient = async () => {
    for (let ticket: string | null = null; !over || ticket !== null; ) {
      const admission = await ask(long.bytes, ticket);
      if (admission.outcome === "admitted") {
        readUntil = clock.now() + long.readMs;
        await sleep(long.ms);
        admission.reservation.release();
        result.longs.served += 1;
        ticket = null;
      } else if (admission.outcome === "refused") {
        result.longs.refused += 1;
        if (ticket !== null) result.longs.broken += 1;
        ticket = admission.shortfall.ticket;
        await sleep(admission.shortfall.retry_after_ms);
      }
    }
  };
  const clients = [
    ...Array.from({ length: short.clients }, shortClient),
    ...Array.from({ length: long.clients }, longClient),
  ];
  for (let ms = 0; ms < forMs; ms += TICK_MS) {
    await settle();
    // Beside one large one, running or about to, this much is the small ones' to fill; what a ticket keeps free is nobody's.
    const left = Math.min(gate.available, capacity - long.bytes - shortsHeld);
    if (waitingShorts > 0 && left >= short.bytes && gate.placesHeldBy("a") === 0) result.idleMoments += 1;
    clock.pass(TICK_MS);
  }
  over = true;
  const ended = Promise.all(clients).then(() => true);
  while (!(await Promise.race([ended, settle().then(() => false)]))) clock.pass(TICK_MS);
  return result;
}
