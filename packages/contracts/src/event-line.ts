/** One line of a run's log, told by the number of the event that it comes from. */
export type EventLine = { level: string; message: string };

/**
 * What an event says in a run's log, the same in the console, over the socket and on the command line: every log event,
 * and what else a reader wants to find there afterwards; null for what is drawn and not listed (progress, counts, fits).
 */
export function eventLine(type: string, body: Record<string, unknown>): EventLine | null {
  const info = (message: string) => ({ level: "info", message });
  switch (type) {
    case "log":
      return { level: text(body.level) || "info", message: text(body.message) };
    case "started":
      return info(
        `started: method ${text(body.method)}, k ${text(body.k)}, device ${text(body.device)}${corpusOf(body.corpus)}`,
      );
    case "stage":
      return info(`stage ${text(body.stage)}${at(body)}`);
    case "metric":
      return body.name === "retention" && typeof body.value === "number"
        ? info(`retention of ${text(body.arm).replaceAll("_", " ")}: ${body.value.toFixed(3)}`)
        : null;
    case "result":
      return info(`mapper written${artifactOf(body.artifact)}`);
    case "failed":
      return { level: "error", message: `${text(body.code)}: ${text(body.message)}` };
    default:
      return null;
  }
}

function at({ index, of }: Record<string, unknown>): string {
  return typeof index === "number" && typeof of === "number" ? ` (${index + 1} of ${of})` : "";
}

function corpusOf(corpus: unknown): string {
  const { name, sha256 } = (corpus ?? {}) as { name?: unknown; sha256?: unknown };
  if (typeof name !== "string") return "";
  return `, corpus ${name}${typeof sha256 === "string" ? ` (sha256 ${sha256.slice(0, 12)})` : ""}`;
}

function artifactOf(artifact: unknown): string {
  const { sha256, bytes } = (artifact ?? {}) as { sha256?: unknown; bytes?: unknown };
  const size = typeof bytes === "number" ? `, ${(bytes / 2 ** 20).toFixed(1)} MiB` : "";
  return typeof sha256 === "string" ? `: sha256 ${sha256.slice(0, 12)}${size}` : "";
}

function text(value: unknown): string {
  return typeof value === "string" ? value : value === undefined || value === null ? "" : String(value);
}
