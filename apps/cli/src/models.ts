import { stat } from "node:fs/promises";
import { basename, join, resolve, sep } from "node:path";
import { CORPUS_FORMS, ExitCode, isHubCorpus, type ModelFacts } from "@helm/contracts";
import { type HubConfig, inspectModel, PythonFailure, type PythonHome } from "@helm/host";
import type { CliConfig } from "./config";
import { Failure } from "./failure";

export interface LocatedModel {
  /** What the user called it, or the folder's name. */
  id: string;
  folder: string;
}

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]*(\/[A-Za-z0-9][A-Za-z0-9._-]*){0,3}$/;

/** A model by folder, or by id under HELM_MODEL_ROOTS and the bundled models. Errors: Failure 5. */
export async function locateModel(given: string, config: CliConfig): Promise<LocatedModel> {
  if (ID.test(given) && !given.includes("..")) {
    for (const root of config.modelRoots) {
      const folder = join(root, given);
      if (await isFile(join(folder, "config.json"))) return { id: given, folder };
    }
  }
  const folder = resolve(given);
  if (await isFile(join(folder, "config.json"))) return { id: nameOf(folder), folder };
  const looked = config.modelRoots.join(", ");
  throw new Failure(
    ExitCode.unreadable,
    "MODEL_NOT_FOUND",
    `There is no model "${given}": no such folder with a config.json, and no such id under ${looked}. Name a folder, or set HELM_MODEL_ROOTS.`,
  );
}

/** Facts under the model's own id. Errors: Failure 5 where its files cannot be read. */
export async function readFacts(model: LocatedModel, python: PythonHome): Promise<ModelFacts> {
  try {
    return { ...(await inspectModel(python, model.folder)), id: model.id };
  } catch (error) {
    if (!(error instanceof PythonFailure)) throw error;
    throw new Failure(
      error.exitCode,
      error.code,
      `${model.id}: ${error.message}. Mend the folder, or name another model.`,
    );
  }
}

export interface LocatedCorpus {
  /** What the job is given: a path, or the hub's name for it. */
  given: string;
  hub: HubConfig | null;
}

/** A corpus by path, by name under the corpora folder (`bundled`), or of the hub. Errors: Failure 5. */
export async function locateCorpus(given: string, config: CliConfig): Promise<LocatedCorpus> {
  const places = ID.test(given) ? [join(config.corporaRoot, given), resolve(given)] : [resolve(given)];
  for (const place of given.startsWith("hub:") ? [] : places) {
    if (await exists(place)) return { given: place, hub: null };
  }
  if (isHubCorpus(given)) {
    if (config.hub) return { given, hub: config.hub };
    throw new Failure(
      ExitCode.unreadable,
      "HUB_OFF",
      `"${given}" is a hub's, and HELM_HUB_ENDPOINT allows none. Give a file or folder, or set the hub's address.`,
    );
  }
  throw new Failure(
    ExitCode.unreadable,
    "CORPUS_NOT_FOUND",
    `There is no corpus "${given}". Give ${CORPUS_FORMS}; a path works here too.`,
  );
}

function nameOf(folder: string): string {
  const parts = folder.split(sep);
  return basename(folder) || parts.at(-1) || folder;
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
