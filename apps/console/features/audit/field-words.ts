/** Fields whose own names say less than they could. */
const NAMED: Record<string, string> = {
  defaultMaxTokens: "default length",
  devices: "device",
  entityId: "id",
  gateOn: "gate on",
  helmOffAfterS: "Helm off after (s)",
  helmEnabled: "Helm",
  insteadOf: "instead of generation",
  joinToken: "join token",
  joinTokenBy: "join token made by",
  meanLogprob: "mean log-probability",
  minLogprob: "least log-probability",
  pairId: "pair",
  refuseKeysAfterS: "keys refused after (s)",
  requireBeatsPilot: "only pairs that beat their pilot",
  rolledBackTo: "rolled back to",
  sha256: "sha256",
  startedBy: "started by",
};

/** "judge.meanLogprob" -> "judge: mean log-probability", "causes 2.cause" -> "causes 2: cause". */
export function fieldWords(path: string): string {
  return path.split(".").map(partWords).join(": ");
}

function partWords(part: string): string {
  const [, name = part, number = ""] = /^(.*?)( \d+)?$/.exec(part) ?? [];
  const words =
    NAMED[name] ??
    name
      .replace(/_/g, " ")
      .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
      .toLowerCase();
  return `${words}${number}`;
}
