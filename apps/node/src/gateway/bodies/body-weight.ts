/** What the parts of a parsed body take in memory, about: two bytes of text make an object of thirty times as many. */
const CONTAINER = 64;
const PROPERTY = 48;
const ITEM = 16;
const TEXT = 24;

/** Deeper than any schema or tool; what goes deeper cannot be written out again without running out of stack. */
export const DEEPEST = 256;

/** Bytes that a parsed body takes beyond its text, or null where it is nested deeper than any body of use. */
export function weighBody(body: object): number | null {
  let bytes = 0;
  const waiting: [object, number][] = [[body, 1]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [container, depth] = next;
    if (depth > DEEPEST) return null;
    const isList = Array.isArray(container);
    const values: unknown[] = isList ? container : Object.values(container);
    bytes += CONTAINER + values.length * (isList ? ITEM : PROPERTY);
    for (const value of values) {
      if (typeof value === "string") bytes += TEXT;
      else if (typeof value === "object" && value !== null) waiting.push([value, depth + 1]);
    }
  }
  return bytes;
}
