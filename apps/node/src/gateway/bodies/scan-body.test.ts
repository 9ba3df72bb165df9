import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MOST_PARTS, scanBody } from "./scan-body";

const scan = (text: string) => scanBody(Buffer.from(text));

/** The same count from the parsed value, for texts without doubled names. */
function partsOf(value: unknown): number {
  if (typeof value === "string") return 1;
  if (typeof value !== "object" || value === null) return 0;
  const inner = Object.values(value);
  const commas = Math.max(0, inner.length - 1);
  const named = Array.isArray(value) ? 4 : 4 + inner.length * (4 + 1);
  return named + commas + inner.reduce((sum: number, one) => sum + partsOf(one), 0);
}

const content = fc.oneof(
  fc.string({ unit: "binary", maxLength: 400 }),
  fc.array(fc.record({ type: fc.constant("text"), text: fc.string() }), { maxLength: 4 }),
);
const call = fc.record({
  id: fc.uuid(),
  type: fc.constant("function"),
  function: fc.record({ name: fc.string(), arguments: fc.json() }),
});
const message = fc.record(
  {
    role: fc.constantFrom("system", "user", "assistant", "tool"),
    content,
    name: fc.string(),
    tool_calls: fc.array(call, { maxLength: 4 }),
    tool_call_id: fc.uuid(),
  },
  { requiredKeys: ["role", "content"] },
);
const tool = fc.record({
  type: fc.constant("function"),
  function: fc.record({ name: fc.string(), description: fc.string(), parameters: fc.jsonValue() }),
});
const chat = fc.record({
  model: fc.string(),
  messages: fc.array(message, { minLength: 1, maxLength: 60, size: "max" }),
  tools: fc.array(tool, { maxLength: 20 }),
  temperature: fc.double({ noNaN: true, noDefaultInfinity: true }),
});

describe("parts", () => {
  it("are counted as they are in the value, whatever stands in its texts", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(4), (value, indent) => {
        expect(scan(JSON.stringify(value, null, indent)).parts).toBe(partsOf(value));
      }),
    );
  });

  it("of a real conversation stay far below the bound", () => {
    fc.assert(
      fc.property(chat, (body) => {
        expect(scan(JSON.stringify(body)).parts).toBeLessThan(MOST_PARTS / 16);
      }),
    );
  });

  it("of long ones too: 10,000 messages, a prompt of 131,072 token ids, 128 tools of 200 properties", () => {
    const messages = Array.from({ length: 10_000 }, (_, n) => ({
      role: n % 2 ? "user" : "assistant",
      content: `{"n": [${n}, "\\"]}`,
    }));
    const properties = Object.fromEntries(
      Array.from({ length: 200 }, (_, n) => [`p${n}`, { type: "string", description: "what it is" }]),
    );
    const tools = Array.from({ length: 12 }, (_, n) => ({
      type: "function",
      function: { name: `f${n}`, parameters: { type: "object", properties } },
    }));
    for (const body of [{ messages }, { prompt: Array.from({ length: 131_072 }, (_, n) => n) }, { tools }])
      expect(scan(JSON.stringify(body)).parts).toBeLessThan(MOST_PARTS);
  });

  it("are counted no further than the bound", () => {
    expect(scan(`[${"[],".repeat(1_000_000)}[]]`).parts).toBeLessThan(MOST_PARTS + 8);
  });

  it("of anything at all are a number: what is no JSON is refused later", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(scanBody(bytes).parts).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe("what a body may grow to", () => {
  const digits = (most: number) =>
    fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: most }).map((all) => all.join(""));
  const number = fc
    .record({
      sign: fc.constantFrom("", "-"),
      whole: digits(24).map((text) => text.replace(/^0+(?=.)/, "")),
      part: fc.oneof(
        fc.constant(""),
        digits(24).map((text) => `.${text}`),
      ),
      exponent: fc.oneof(
        fc.constant(""),
        fc.tuple(fc.constantFrom("e", "E", "e+", "e-", "E-"), digits(3)).map(([mark, text]) => mark + text),
      ),
    })
    .map(({ sign, whole, part, exponent }) => sign + whole + part + exponent);

  it("bounds what is written out again, however its numbers were written", () => {
    fc.assert(
      fc.property(fc.array(number, { maxLength: 30 }), fc.string({ unit: "binary" }), (numbers, text) => {
        const body = `{"true": true, "e1e": ${JSON.stringify(text)}, "x": [${numbers.join(", ")}]}`;
        const written = Buffer.byteLength(JSON.stringify(JSON.parse(body)));
        expect(written).toBeLessThanOrEqual(scan(body).mostWritten);
      }),
      { numRuns: 500 },
    );
  });

  it("is what came where no number has an exponent", () => {
    const body = JSON.stringify({ text: "1e20 and 2E5", at: [1, 2.5, true, null] });
    expect(scan(body).mostWritten).toBe(body.length);
    expect(scan("[1e20]").mostWritten).toBe(6 + 17);
  });
});
