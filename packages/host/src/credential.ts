import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { writeFileAtomic } from "./atomic-file";

/** Who this host is to one control plane; made by joining, kept with mode 0600. */
export const HostIdentity = z.object({
  control_url: z.string(),
  id: z.string(),
  credential: z.string(),
  /** Ed25519 public key, SPKI PEM. */
  signing_key: z.string(),
});
export type HostIdentity = z.infer<typeof HostIdentity>;

const FILE = "identity.json";

/** The stored identity, or null where this host has not joined. Errors: a file that cannot be understood, by name. */
export async function readIdentity(stateDir: string): Promise<HostIdentity | null> {
  const path = join(stateDir, FILE);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  try {
    return HostIdentity.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(
      `${path} holds no identity of this host. Remove it and join again with a new join token.`,
      { cause },
    );
  }
}

export async function writeIdentity(stateDir: string, identity: HostIdentity): Promise<void> {
  await writeFileAtomic(join(stateDir, FILE), `${JSON.stringify(identity, null, 2)}\n`, 0o600);
}
