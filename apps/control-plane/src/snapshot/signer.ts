import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from "node:crypto";
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
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

/** Reads the key from `<stateDir>/signing-key.pem` (0600), or makes it once. */
export async function loadSigner(stateDir: string): Promise<Signer> {
  const path = join(stateDir, "signing-key.pem");
  const existing = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (existing !== null) return new Signer(createPrivateKey(existing));
  const { privateKey } = generateKeyPairSync("ed25519");
  await mkdir(stateDir, { recursive: true });
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
