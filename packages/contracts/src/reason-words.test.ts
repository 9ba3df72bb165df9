import { expect, it } from "vitest";
import { DECISION_REASONS, DECISION_WORDS, FALLBACK_REASONS, GATEWAY_ERRORS } from "./reason-words";
import { RefusalCode } from "./request-trace";

const PAGE = new URL("../../../docs/reason-codes.md", import.meta.url).pathname;

/** Spaces fill the columns, as in the other documents' tables. */
function table(head: string[], rows: (string | number)[][]): string {
  const lines = [head, head.map(() => "---"), ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const codes = (words: Record<string, string>) =>
  Object.entries(words).map(([code, said]) => [`\`${code}\``, said]);

function page(): string {
  return `# Reason codes

Made from \`packages/contracts/src/reason-words.ts\`; after a change there:
\`npx vitest run packages/contracts/src/reason-words.test.ts -u\`.

Every answer of a node's gateway says what was done with it: \`x-helm-decision\`, \`x-helm-reason\` and \`x-helm-transfer\`, and the same in the
field \`helm\` of the body. A decision has a reason of its own, or the reason why the cache was not carried across.

## Decisions (\`x-helm-decision\`)

${table(["decision", "means"], codes(DECISION_WORDS))}

## Why this model answered (\`x-helm-reason\`)

${table(["reason", "means"], codes(DECISION_REASONS))}

## Why nothing was transferred (\`x-helm-reason\`, and a pair's readiness on a node)

With one of these the target reads the prompt itself, as if Helm did not exist; the request is answered all the same.

${table(["reason", "means"], codes(FALLBACK_REASONS))}

## Errors of the gateway (\`error.code\`)

${table(
  ["code", "status", "means"],
  Object.entries(GATEWAY_ERRORS).map(([code, [status, said]]) => [`\`${code}\``, status, said]),
)}
`;
}

it("has every code that a request can be refused with", () => {
  expect(Object.keys(GATEWAY_ERRORS)).toEqual(expect.arrayContaining([...RefusalCode.options]));
});

it("is what docs/reason-codes.md says", async () => {
  await expect(page()).toMatchFileSnapshot(PAGE);
});
