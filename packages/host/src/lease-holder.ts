import { randomBytes } from "node:crypto";
import type { Holder } from "./lease-file";
import { ownIdentity } from "./process-identity";

const ended = new Set<string>();
const AGAIN_MS = 2_000;

/**
 * Ends a hold of this process by `write`, which takes it out of the file. A disk that takes nothing now is asked again until it
 * does: a hold whose process lives is nobody else's to remove.
 */
export async function endHold(id: string, write: () => Promise<void>): Promise<void> {
  ended.add(id);
  try {
    await write();
    ended.delete(id);
  } catch {
    setTimeout(() => void endHold(id, write), AGAIN_MS).unref();
  }
}

/** Whether this process gave a hold up, though the file may still name it. */
export function hasEnded(id: string): boolean {
  return ended.has(id);
}

/** This process as the holder of something, told apart from its other holds by an id. */
export function newHolder(purpose: string): Holder {
  return {
    ...ownIdentity(),
    id: randomBytes(8).toString("hex"),
    purpose,
    since: new Date().toISOString(),
  };
}
