import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { startProduct } from "../lib/product.mjs";

const REST_MS = 20_000;
const PAGES = ["/", "/sign-in", "/setup"];

/** MiB of control plane and console, each with what it started, after their pages were opened and left alone. */
export async function measureMemory(stateDir) {
  console.log("control plane and console at rest");
  const product = await startProduct({ stateDir, ports: "free", worker: false, node: false });
  try {
    for (const page of PAGES) {
      const answer = await fetch(`${product.urls.console}${page}`);
      await answer.arrayBuffer();
    }
    await new Promise((done) => setTimeout(done, REST_MS));
    const share = existsSync(`/proc/${process.pid}/smaps_rollup`);
    const of = (pid) =>
      treeOf(pid).reduce((sum, one) => sum + (share ? proportional(one) : resident(one)), 0) / 1024;
    return {
      controlPlaneMiB: of(product.pids["control-plane"]),
      consoleMiB: of(product.pids.console),
      kind: share ? "proportional set size" : "resident set size",
    };
  } finally {
    await product.stop();
  }
}

function treeOf(pid) {
  const rows = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  const tree = [pid];
  for (const parent of tree) tree.push(...rows.filter(([, ppid]) => ppid === parent).map(([child]) => child));
  return tree;
}

function proportional(pid) {
  return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
}

function resident(pid) {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" }));
}
