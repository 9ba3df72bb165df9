import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from "node:crypto";
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import type { SignedDocument } from "@helm/contracts";

/** Signs what nodes obey. The private key never leaves the state directory. */
export class Signer {
  readonly publicKeyPem: string;

  constructor(private readonly privateKey: KeyObject) {
    this.publicKeyPem = createPublicKey(privateKey).export({ type: "spki", format: "pem" }).toString();
  }

  sign(document: string): SignedDocument {
    const bytes = Buffer.from(document, "utf8");
    return {
      document,
      sha256: createHash("sha256").update(bytes).digest("hex"),
      signature: sign(null, bytes, this.privateKey).toString("base64"),
    };
  }
}

/** The key at `path` (0600); null where there is none. */
export async function readSigner(path: string): Promise<Signer | null> {
  const existing = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  return existing === null ? null : new Signer(createPrivateKey(existing));
}

/** A new key, on disk before it signs anything. */
export async function makeSigner(path: string): Promise<Signer> {
  const { privateKey } = generateKeyPairSync("ed25519");
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}`;
  const file = await open(temporary, "w", 0o600);
  try {
    await file.writeFile(privateKey.export({ type: "pkcs8", format: "pem" }));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  return new Signer(privateKey);
}
