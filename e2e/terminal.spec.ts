import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "@playwright/test";
import { visitEvery } from "./visit";

const BIN = fileURLToPath(new URL("../apps/cli/bin/lifeboat.mjs", import.meta.url));
const LONG = 600_000;

/** What a verb takes, as its own help says. Errors: where there is no such verb. */
async function helpOf(words: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [BIN, ...words, "--help"]);
  return stdout;
}

/** The words before the first argument or option: "helm tenant create". */
function verbOf(line: string): string[] {
  const words = line.replace(/^npx lifeboat /, "").split(/\s+/);
  const nouns = [
    "helm",
    "pair",
    "calibration",
    "mapper",
    "route",
    "setting",
    "tenant",
    "key",
    "node",
    "worker",
  ];
  const more = ["snapshot", "person", "token", "audit", "judge", "traffic", "playground"];
  let depth = 0;
  while ([...nouns, ...more].includes(words[depth] ?? "")) depth += 1;
  return words.slice(0, depth + 1);
}

test("every page has its command-line form, whose verbs and options there are", async ({ browser }) => {
  test.setTimeout(LONG);
  const lines = new Set<string>();
  await visitEvery(browser, { theme: "light", width: 1280 }, async (page, { name, signedIn }) => {
    if (!signedIn || name === "nothing") return;
    const found = await page
      .locator("code")
      .filter({ hasText: /^npx lifeboat / })
      .allTextContents();
    expect.soft(found.length, `commands on ${name}`).toBeGreaterThan(0);
    for (const line of found) lines.add(line.trim());
  });
  const byVerb = new Map<string, Set<string>>();
  for (const line of lines) {
    const verb = verbOf(line).join(" ");
    const options = byVerb.get(verb) ?? new Set();
    for (const [option] of line.matchAll(/(?<=\s)--[a-z-]+/g)) options.add(option);
    byVerb.set(verb, options);
  }
  expect(byVerb.size).toBeGreaterThan(15);
  for (const [verb, options] of byVerb) {
    const help = await helpOf(verb.split(" ")).catch(() => "");
    expect.soft(help, verb).toContain(`Usage: lifeboat ${verb}`);
    for (const option of options) expect.soft(help, `${verb} ${option}`).toContain(option);
  }
});
