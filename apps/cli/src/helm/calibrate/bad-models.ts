import { chmod, cp, mkdir, open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CHECKOUT } from "../../testing";

/** Folders and programs that are wrong in one way each, for tests of what a user is told. */

export async function copyOfPilot(to: string): Promise<string> {
  await cp(join(CHECKOUT, "models", "pilot"), to, { recursive: true });
  return to;
}

export async function withConfig(to: string, config: string): Promise<string> {
  await mkdir(to, { recursive: true });
  await writeFile(join(to, "config.json"), config);
  return to;
}

/** Overwrites one value of the last tensor with a NaN; digests are not kept in the folder. */
export async function withNaN(to: string): Promise<string> {
  const file = join(await copyOfPilot(to), "model.safetensors");
  const bytes = await readFile(file);
  const header = JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE(0))).toString());
  // All ones in the exponent: not a number in float32 and in bfloat16 alike.
  bytes.fill(0xff, bytes.length - 4);
  if (!Object.values(header).length) throw new Error("the pilot has no tensors");
  await writeFile(file, bytes);
  return to;
}

export async function cutShort(to: string): Promise<string> {
  const file = join(await copyOfPilot(to), "model.safetensors");
  const bytes = await readFile(file);
  await writeFile(file, bytes.subarray(0, bytes.length - 1000));
  return to;
}

/** A model of 2^29 weights: 2 GiB in float32, and a file of holes in four bits each. */
export async function largeModel(to: string): Promise<string> {
  const file = join(await copyOfPilot(to), "model.safetensors");
  const count = 2 ** 29;
  const header = JSON.stringify({
    "model.embed_tokens.weight": { dtype: "F4", shape: [count], data_offsets: [0, count / 2] },
  });
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  await writeFile(file, Buffer.concat([length, Buffer.from(header)]));
  const handle = await open(file, "r+");
  await handle.truncate(8 + header.length + count / 2);
  await handle.close();
  return to;
}

export async function withOtherTokenizer(to: string): Promise<string> {
  const file = join(await copyOfPilot(to), "tokenizer.json");
  const tokenizer = JSON.parse(await readFile(file, "utf8"));
  const { merges } = tokenizer.model;
  [merges[4], merges[5]] = [merges[5], merges[4]];
  await writeFile(file, JSON.stringify(tokenizer));
  return to;
}

async function program(file: string, script: string): Promise<string> {
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  return file;
}

/** The interpreter, allowed `kibibytes` of address space. */
export function pythonWithin(folder: string, kibibytes: number): Promise<string> {
  const python = process.env.HELM_PYTHON || join(CHECKOUT, "packages", "kv", ".venv", "bin", "python");
  return program(join(folder, "python"), `ulimit -v ${kibibytes}\nexec '${python}' "$@"`);
}

/** A simulated amd-smi in a folder of its own, to be put on the path: no GPU is there. */
export async function simulatedAmdSmi(folder: string, name: string, architecture: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const asic = { market_name: name, target_graphics_version: architecture };
  await program(join(folder, "amd-smi"), `echo '${JSON.stringify({ gpu_data: [{ gpu: 0, asic }] })}'`);
  return folder;
}
