import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** True where this process may mount a small disk of its own: as root, where mounting is not forbidden. */
export function canMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  const place = `/tmp/helm-mount-${process.pid}`;
  try {
    unmount(mountSmallDisk(place, "64k"));
    return true;
  } catch {
    return false;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** A disk of `size` in memory, so that a test can fill it. Errors: what mount says. */
export function mountSmallDisk(place: string, size: string): string {
  mkdirSync(place, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=0777`, "tmpfs", place], { stdio: "pipe" });
  return place;
}

export function unmount(place: string): void {
  execFileSync("umount", ["-l", place], { stdio: "pipe" });
}

const FILLER = "filler";

export function fillDisk(place: string, leaveBytes = 0): void {
  const { available } = freeSpace(place);
  let left = Math.max(0, available - leaveBytes);
  for (let i = 0; left > 0; i++) {
    const bytes = Math.min(left, 64 * 1024 ** 2);
    try {
      writeFileSync(join(place, `${FILLER}-${i}`), Buffer.alloc(bytes));
    } catch {
      break;
    }
    left -= bytes;
  }
}

export function makeRoom(place: string): void {
  for (let i = 0; i < 64; i++) rmSync(join(place, `${FILLER}-${i}`), { force: true });
}

function freeSpace(place: string): { available: number } {
  const text = execFileSync("df", ["--output=avail", "-B1", place], { encoding: "utf8" });
  return { available: Number(text.trim().split("\n").at(-1)) };
}
