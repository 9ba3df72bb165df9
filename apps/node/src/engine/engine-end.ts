import { createInterface } from "node:readline";
import type { GroupedChild } from "@helm/host";
import { z } from "zod";

/** What an engine that cannot start says of it on its standard output, before it ends. */
const Failed = z.object({ event: z.literal("failed"), code: z.string(), message: z.string() });

/** Reads an engine's last words as they come; null until there are any. */
export function hearEnd(
  child: Pick<GroupedChild, "stdout">,
  onLine: (line: string) => void,
): () => string | null {
  let words: string | null = null;
  createInterface({ input: child.stdout }).on("line", (line) => {
    onLine(line);
    words = readFailure(line) ?? words;
  });
  return () => words;
}

export function readFailure(line: string): string | null {
  if (!line.startsWith("{")) return null;
  try {
    const failed = Failed.safeParse(JSON.parse(line));
    return failed.success ? `${failed.data.code}: ${failed.data.message}` : null;
  } catch {
    return null;
  }
}
