import { readFile, rm } from "node:fs/promises";
import { writeFileAtomic } from "@helm/host";
import { z } from "zod";

const Session = z.object({ url: z.url(), token: z.string().min(1), email: z.string() });
export type Session = z.infer<typeof Session>;

/** What stands in the place of a sign-in and is none. */
export class UnreadableSession extends Error {
  override name = "UnreadableSession";
}

/** The stored sign-in, or null where there is no file. Errors: one that cannot be read or understood, by name. */
export async function readSession(path: string): Promise<Session | null> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    const { code = String(cause) } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new UnreadableSession(`${path} cannot be read (${code}). Remove it and run lifeboat login again.`, {
      cause,
    });
  }
  try {
    return Session.parse(JSON.parse(text));
  } catch (cause) {
    throw new UnreadableSession(`${path} holds no sign-in. Remove it and run lifeboat login again.`, {
      cause,
    });
  }
}

/** For its owner alone: mode 0600. */
export async function writeSession(path: string, session: Session): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(session, null, 2)}\n`, 0o600);
}

export async function removeSession(path: string): Promise<void> {
  await rm(path, { force: true });
}
