import type { ArtifactStore } from "../../artifact/store";

/** As the library's own bound: manifests hold every sequence's counts. */
const MAX_HEADER = 32 * 1024 ** 2;

export interface TensorEntry {
  dtype: string;
  shape: number[];
  begin: number;
  end: number;
}

export interface MapperFile {
  bytes: number;
  tensors: Map<string, TensorEntry>;
  manifest: unknown;
}

/** What a mapper's file says of itself: eight bytes of length, a JSON header, then the tensors end to end. Or why not. */
export async function readMapperFile(store: ArtifactStore, sha256: string): Promise<MapperFile | string> {
  const size = await store.size(sha256);
  if (size === null) return "Its file is not here: upload it first.";
  const start = await bytesOf(store, sha256, 0, 8);
  const length = start.length === 8 ? Number(start.readBigUInt64LE()) : Number.POSITIVE_INFINITY;
  if (length === 0 || length > Math.min(MAX_HEADER, size - 8))
    return "It is no safetensors file: its header has no length.";
  const header = parseObject((await bytesOf(store, sha256, 8, length)).toString("utf8"));
  if (header === null) return "It is no safetensors file: its header is not JSON.";
  const { __metadata__: metadata, ...entries } = header;
  const tensors = readEntries(entries, size - 8 - length);
  if (typeof tensors === "string") return tensors;
  const text = (metadata as Record<string, unknown> | undefined)?.manifest;
  const manifest = typeof text === "string" ? parseObject(text) : null;
  return manifest === null ? "It carries no manifest." : { bytes: size, tensors, manifest };
}

async function bytesOf(store: ArtifactStore, sha256: string, start: number, length: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await store.read(sha256, { start, end: start + length - 1 }))
    chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Tensors fill the rest of the file without gap or overlap. */
function readEntries(entries: Record<string, unknown>, dataBytes: number): Map<string, TensorEntry> | string {
  const found = new Map<string, TensorEntry>();
  for (const [name, value] of Object.entries(entries)) {
    const { dtype, shape, data_offsets: offsets } = (value ?? {}) as Record<string, unknown>;
    if (typeof dtype !== "string" || !areNaturals(shape) || !areNaturals(offsets) || offsets.length !== 2)
      return `Its tensor ${name.slice(0, 80)} is not described by dtype, shape and offsets.`;
    found.set(name, { dtype, shape, begin: offsets[0] ?? 0, end: offsets[1] ?? 0 });
  }
  let reached = 0;
  for (const { begin, end } of [...found.values()].sort((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (begin !== reached || end < begin) return "Its tensors do not lie end to end.";
    reached = end;
  }
  return reached === dataBytes
    ? found
    : `Its header describes ${reached} bytes of tensors; it has ${dataBytes}.`;
}

function areNaturals(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((one) => Number.isSafeInteger(one) && one >= 0);
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
