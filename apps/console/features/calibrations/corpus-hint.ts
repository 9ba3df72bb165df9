import { HUB_ALIASES, isHubCorpus } from "@helm/contracts";

const SIZE = "about 2 GB";

/** What the name will do, before it is started: a data set of the hub is fetched first. */
export function corpusHint(corpus: string, known: string[]): string {
  const name = corpus.trim();
  if (HUB_ALIASES.some((alias) => name === alias || name.startsWith(`${alias}@`)))
    return `Downloads ${SIZE} from the hub, once: the worker keeps it.`;
  if (isHubCorpus(name)) return "Is downloaded from the hub first, where the worker does not have it yet.";
  const theirs = known.filter((one) => !isHubCorpus(one)).slice(0, 6);
  // A worker lists a data set of the hub only where its operator allows the hub.
  const hub = known.some(isHubCorpus)
    ? ` Also ${HUB_ALIASES.join(", ")} (downloads ${SIZE}) and hub:owner/name[/config][@revision].`
    : "";
  return `The workers have ${theirs.join(", ")}.${hub}`;
}
