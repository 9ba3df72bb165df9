export type Field = { path: string; was?: string; is?: string; kind: "set" | "removed" | "changed" | "same" };

/**
 * Before and after, field by field: nested ones by their path, lists as a whole where they hold plain words and by number
 * where they hold things of their own. A field without a value counts as not there.
 */
export function differenceOf(before: unknown, after: unknown): Field[] {
  const was = flatten(before);
  const is = flatten(after);
  return [...new Set([...was.keys(), ...is.keys()])].map((path) => {
    const old = was.get(path);
    const now = is.get(path);
    if (old === undefined) return { path, is: now, kind: "set" };
    if (now === undefined) return { path, was: old, kind: "removed" };
    return { path, was: old, is: now, kind: old === now ? "same" : "changed" };
  });
}

function flatten(value: unknown, path = "", into = new Map<string, string>()): Map<string, string> {
  if (value === null || value === undefined) return into;
  if (Array.isArray(value)) {
    if (value.every((item) => item === null || typeof item !== "object")) {
      into.set(path, value.length === 0 ? "none" : value.map(written).join(", "));
    } else for (const [index, item] of value.entries()) flatten(item, `${path} ${index + 1}`, into);
  } else if (typeof value === "object") {
    for (const [name, inner] of Object.entries(value)) flatten(inner, path ? `${path}.${name}` : name, into);
  } else into.set(path || "value", written(value));
  return into;
}

function written(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
