import { readdir, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { HUB_ALIASES, isHubCorpus } from "@helm/contracts";
import type { HubConfig } from "@helm/host";

/** `name`, `owner/name` or a little deeper: no absolute path, no dots that climb, nothing hidden. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}(\/[A-Za-z0-9][A-Za-z0-9._-]{0,95}){0,3}$/;

export class NotAllowed extends Error {
  override name = "NotAllowed";
}

/** The folder of model `id` under one of the allowed roots. Errors: NotAllowed. */
export async function resolveModel(id: string, roots: string[]): Promise<string> {
  for (const root of roots) {
    const found = await resolveUnder(id, root);
    if (found && (await isFile(join(found, "config.json")))) return found;
  }
  throw new NotAllowed(
    `This worker has no model "${id}". Put its folder under one that HELM_MODEL_ROOTS names on the worker's host.`,
  );
}

export interface FoundCorpus {
  /** What the job is given: a path on this host, or the hub's name for it. */
  given: string;
  /** Set where the corpus is the hub's. */
  hub: HubConfig | null;
}

/** The corpus `id` under the allowed root, else a data set of the one allowed hub. Errors: NotAllowed. */
export async function resolveCorpus(id: string, root: string, hub: HubConfig | null): Promise<FoundCorpus> {
  const ofHub = isHubCorpus(id);
  const found = id.startsWith("hub:") || id.includes("@") ? null : await resolveUnder(id, root);
  if (found) return { given: found, hub: null };
  if (!ofHub)
    throw new NotAllowed(
      `This worker has no corpus "${id}". Put it into the folder that HELM_CORPORA_ROOT names on the worker's host, or choose one it has.`,
    );
  if (!hub) throw new NotAllowed(`This worker is set up without a hub, so it cannot fetch "${id}".`);
  return { given: id, hub };
}

/** Links may point to files elsewhere (a hub cache does), but the folder itself has to lie under the root. */
async function resolveUnder(id: string, root: string): Promise<string | null> {
  if (!ID.test(id)) throw new NotAllowed(`"${id.slice(0, 80)}" is no id; ids are "name" or "owner/name".`);
  try {
    const top = await realpath(root);
    const path = await realpath(join(top, id));
    return path.startsWith(top + sep) ? path : null;
  } catch {
    return null;
  }
}

/** Ids of every model under the roots, one and two levels deep. */
export async function listModels(roots: string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const root of roots) {
    for (const name of await folders(root)) {
      if (await isFile(join(root, name, "config.json"))) found.add(name);
      else
        for (const inner of await folders(join(root, name))) {
          if (await isFile(join(root, name, inner, "config.json"))) found.add(`${name}/${inner}`);
        }
    }
  }
  return [...found].filter((id) => ID.test(id)).sort();
}

const TEXTS = /\.(txt|jsonl|jsonl\.gz|json\.gz|parquet)$/;

/** Corpora of the folder, then the names of the hub's, where there is one. */
export async function listCorpora(root: string, hub: HubConfig | null): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(root, { withFileTypes: true }).catch(() => [])) {
    const known = entry.isDirectory() ? await holdsTexts(join(root, entry.name)) : TEXTS.test(entry.name);
    if (known && ID.test(entry.name)) found.push(entry.name);
  }
  return [...new Set([...found.sort(), ...(hub ? HUB_ALIASES : [])])];
}

async function holdsTexts(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch(() => []);
  return names.some((name) => name === "manifest.json" || TEXTS.test(name));
}

async function folders(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map((entry) => entry.name);
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
