import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { ROOT } from "./paths.mjs";

const FOLDERS = ["docs", "models", "corpora", "packages", "apps", "e2e", "scripts"];
const SKIPPED = new Set(["node_modules", ".venv", ".venv-evaluate", ".next", "dist", "generated"]);

/** Faults in README.md and the docs: paths that do not exist and commands nobody defines. */
export function findDocFaults() {
  const scripts = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).scripts;
  const tops = new Set(readdirSync(ROOT));
  return documents().flatMap((file) => {
    const text = readFileSync(file, "utf8");
    return faultsIn(text, dirname(file), tops, scripts).map((fault) => `${relative(ROOT, file)}: ${fault}`);
  });
}

/** Faults of one text that lies in `folder`; `tops` are the names in the root, `scripts` npm's. */
export function faultsIn(text, folder, tops, scripts) {
  return [...pathFaults(text, folder, tops), ...commandFaults(text, scripts)];
}

function documents() {
  return [join(ROOT, "README.md"), ...FOLDERS.flatMap((folder) => markdownUnder(join(ROOT, folder)))].filter(
    existsSync,
  );
}

function markdownUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return [];
    const full = join(folder, entry.name);
    return entry.isDirectory() ? markdownUnder(full) : entry.name.endsWith(".md") ? [full] : [];
  });
}

function pathFaults(text, folder, tops) {
  const links = [...text.matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)].map((match) => match[1]);
  const brokenLinks = links
    .filter((link) => !/^[a-z]+:/.test(link) && !existsSync(join(folder, link)))
    .map((link) => `the link ${link} leads nowhere`);
  const words = [...text.matchAll(/[\w@.][\w@./-]*\/[\w@./-]*/g)].map((match) =>
    match[0].replace(/[.,/-]+$/, ""),
  );
  const missing = new Set(
    words.filter((word) => {
      const first = word.replace(/^\.\//, "").split("/")[0];
      return (
        tops.has(first) &&
        !IGNORED.test(word) &&
        !existsSync(join(ROOT, word)) &&
        !existsSync(join(folder, word))
      );
    }),
  );
  return [...brokenLinks, ...[...missing].map((word) => `the path ${word} does not exist`)];
}

// Made while running or building, so not in a clone.
const IGNORED =
  /^(\.\/)?(\.helm|node_modules|\.git)(\/|$)|\/(dist|\.next|\.venv(-evaluate)?|generated)(\/|$)/;

function commandFaults(text, scripts) {
  const faults = [];
  for (const [, name] of text.matchAll(/\bnpm run ([\w:-]+)/g)) {
    if (!scripts[name]) faults.push(`npm run ${name} is not defined`);
  }
  for (const [, name] of text.matchAll(/\bnpm (start|test)\b/g)) {
    if (!scripts[name]) faults.push(`npm ${name} is not defined`);
  }
  for (const [, file] of text.matchAll(/\bnode (scripts\/[\w./-]+)/g)) {
    if (!existsSync(join(ROOT, file))) faults.push(`node ${file}: there is no such file`);
  }
  return faults;
}
