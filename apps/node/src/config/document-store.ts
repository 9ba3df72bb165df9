import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type SignedDocument, SignedDocument as SignedDocumentSchema } from "@helm/contracts";
import { writeFileAtomic } from "@helm/host";

export type DocumentKind = "snapshot" | "access-list" | "orders";

/** A file of an earlier life; no document where it cannot be read as one. */
export interface StoredDocument {
  name: string;
  number: number;
  document: SignedDocument | null;
}

const KEPT = 3;

/** Last-known-good documents on disk, as they were signed: `<kind>-<number>.json`, the newest few of each. */
export class DocumentStore {
  constructor(private readonly directory: string) {}

  async save(kind: DocumentKind, number: number, document: SignedDocument): Promise<void> {
    await writeFileAtomic(join(this.directory, fileName(kind, number)), JSON.stringify(document));
    for (const old of (await this.numbers(kind)).slice(KEPT)) {
      await rm(join(this.directory, fileName(kind, old)), { force: true });
    }
  }

  /** Newest first. */
  async load(kind: DocumentKind): Promise<StoredDocument[]> {
    const stored: StoredDocument[] = [];
    for (const number of await this.numbers(kind)) {
      const name = fileName(kind, number);
      const text = await readFile(join(this.directory, name), "utf8").catch(() => "");
      const parsed = SignedDocumentSchema.safeParse(parseJson(text));
      stored.push({ name, number, document: parsed.success ? parsed.data : null });
    }
    return stored;
  }

  private async numbers(kind: DocumentKind): Promise<number[]> {
    const names = await readdir(this.directory).catch(() => []);
    const pattern = new RegExp(`^${kind}-(\\d+)\\.json$`);
    return names
      .flatMap((name) => pattern.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => b - a);
  }
}

function fileName(kind: DocumentKind, number: number): string {
  return `${kind}-${number}.json`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
