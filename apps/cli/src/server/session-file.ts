import { readFile, rm } from "node:fs/promises";
import { writeFileAtomic } from "@helm/host";
import { z } from "zod";

const Session = z.object({ url: z.url(), token: z.string().min(1), email: z.string() });
export type Session = z.infer<typeof Session>;

/** The stored sign-in, or null. Errors: a file that cannot be understood, by name. */
export async function readSession(path: string): Promise<Session | null> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch {
    return null;
  }
  try {
    return Session.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`${path} holds no sign-in. Remove it and run lifeboat login again.`, { cause });
  }
}

/** For its owner alone: mode 0600. */
export async function writeSession(path: string, session: Session): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(session, null, 2)}\n`, 0o600);
}

export async function removeSession(path: string): Promise<void> {
  await rm(path, { force: true });
}
