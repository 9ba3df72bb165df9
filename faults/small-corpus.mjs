import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../scripts/lib/paths.mjs";

/** The bundled corpus cut down to what a verdict needs at least, under `<root>/small`; gives `root`. */
export function smallCorpus(root) {
  const folder = join(root, "small");
  mkdirSync(folder, { recursive: true });
  const cut = (name, every, count) => {
    const lines = readFileSync(join(ROOT, "corpora/bundled", name), "utf8")
      .split("\n")
      .filter(Boolean);
    const kept = lines.filter((_, index) => index % every === 0).slice(0, count);
    writeFileSync(join(folder, name), `${kept.join("\n")}\n`);
  };
  cut("fit.jsonl", 8, 40);
  cut("probes.jsonl", 3, 120);
  const defaults = { fit: 24, select: 6, gate: 104, report: 8, seq_len: 96 };
  writeFileSync(join(folder, "manifest.json"), JSON.stringify({ name: "small", defaults }));
  return root;
}
