import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, rmdir, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { busy } from "./store";

const BEAT_MS = 1_000;
const POLL_MS = 100;

export interface LockTimes {
  /** How long a holder is asked to let go before the caller is told to come back. */
  patienceMs: number;
  /** A holder that did not beat for this long, by this process's own clock, is dead. */
  deadMs: number;
}

export interface WriterLock {
  /** The holder before died without letting go: a descriptor of it may still be open somewhere. */
  inherited: boolean;
  /** False once another process took it for dead and took over. */
  mine(): Promise<boolean>;
  release(): Promise<void>;
}

/**
 * One writer of a file over all processes that share its folder. A folder is the lock (its creation is atomic on every
 * file system), its time of change the holder's pulse, and a file beside it asks the holder to let go. No clocks are
 * compared: a pulse is dead that was seen to stand still.
 */
export class WriterLocks {
  private readonly pulses = new Map<string, { mtimeMs: number; since: number }>();

  constructor(private readonly times: LockTimes) {}

  /** `letGo` is called once when someone else wants it. Errors: UPLOAD_BUSY. */
  async acquire(path: string, letGo: () => void): Promise<WriterLock> {
    const lock = `${path}.lock`;
    const wanted = `${path}.wanted`;
    let inherited = false;
    for (let waited = 0; !(await take(lock)); waited += POLL_MS) {
      await writeFile(wanted, "").catch(() => {});
      const dead = await this.deadPulse(lock);
      if (dead !== null) inherited = (await takeAway(lock, dead)) || inherited;
      else if (waited >= this.times.patienceMs) {
        throw busy("Another request of this upload has not ended yet. Ask again in a moment.", BEAT_MS);
      } else await pause(POLL_MS);
    }
    this.pulses.delete(lock);
    await rm(wanted, { force: true });
    const owner = join(lock, randomUUID());
    await writeFile(owner, "");
    const timer = setInterval(() => {
      const now = new Date();
      void utimes(lock, now, now).catch(() => {});
      void stat(wanted).then(letGo, () => {});
    }, BEAT_MS);
    const mine = () =>
      stat(owner).then(
        () => true,
        () => false,
      );
    const release = async () => {
      clearInterval(timer);
      const held = await unlink(owner).then(
        () => true,
        () => false,
      );
      if (held) await rmdir(lock).catch(() => {});
    };
    return { inherited, mine, release };
  }

  /** The last pulse of a holder that is dead; null while it lives. */
  private async deadPulse(lock: string): Promise<number | null> {
    const found = await stat(lock).catch(() => null);
    const seen = this.pulses.get(lock);
    if (!found) return null;
    if (seen?.mtimeMs !== found.mtimeMs) {
      this.pulses.set(lock, { mtimeMs: found.mtimeMs, since: performance.now() });
      return null;
    }
    return performance.now() - seen.since >= this.times.deadMs ? found.mtimeMs : null;
  }
}

async function take(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Of several that see a dead holder one renames its lock away. Who comes late and moved a living lock puts it back. */
async function takeAway(lock: string, pulse: number): Promise<boolean> {
  const away = `${lock}.${randomUUID()}`;
  try {
    await rename(lock, away);
  } catch {
    return false;
  }
  if ((await stat(away)).mtimeMs !== pulse) {
    await rename(away, lock).catch(() => {});
    return false;
  }
  await rm(away, { recursive: true, force: true });
  return true;
}
