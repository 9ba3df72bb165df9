import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HubConfig } from "@helm/host";
import { describe, expect, it } from "vitest";
import { listCorpora, NotAllowed, resolveCorpus } from "./roots";
import { temporaryFolder } from "./testing";

const hub: HubConfig = {
  endpoint: "https://hub.example",
  storage: undefined,
  token: "secret",
  proxy: undefined,
  noProxy: undefined,
};

async function corpora(): Promise<string> {
  const root = join(await temporaryFolder(), "corpora");
  for (const folder of ["bundled", "shards", "empty"]) await mkdir(join(root, folder), { recursive: true });
  await writeFile(join(root, "bundled", "manifest.json"), "{}");
  await writeFile(join(root, "shards", "one.parquet"), "");
  for (const file of ["a.txt", "b.jsonl.gz", "c.csv", ".hidden.txt"]) await writeFile(join(root, file), "");
  return root;
}

describe("a worker's corpora", () => {
  it("are those of its folder, and the hub's where it has one", async () => {
    const root = await corpora();
    expect(await listCorpora(root, null)).toEqual(["a.txt", "b.jsonl.gz", "bundled", "shards"]);
    expect(await listCorpora(root, hub)).toEqual(["a.txt", "b.jsonl.gz", "bundled", "shards", "fineweb-edu"]);
  });

  it("are found under the folder, and only there", async () => {
    const root = await corpora();
    expect(await resolveCorpus("shards/one.parquet", root, null)).toEqual({
      given: join(root, "shards", "one.parquet"),
      hub: null,
    });
    await writeFile(join(root, "..", "secret.txt"), "");
    await symlink(join(root, "..", "secret.txt"), join(root, "linked.txt"));
    for (const id of ["../secret.txt", "linked.txt", "/etc/passwd", "missing", "hub:x", "hub:../b"]) {
      await expect(resolveCorpus(id, root, hub), id).rejects.toBeInstanceOf(NotAllowed);
    }
  });

  it("come from the hub by name alone, and from none where the operator allows none", async () => {
    const root = await corpora();
    for (const id of ["hub:owner/name/config@v1", "fineweb-edu", "fineweb-edu@v1"]) {
      expect(await resolveCorpus(id, root, hub)).toEqual({ given: id, hub });
      await expect(resolveCorpus(id, root, null), id).rejects.toThrow(/set up without a hub/);
    }
    await mkdir(join(root, "fineweb-edu"));
    expect((await resolveCorpus("fineweb-edu", root, hub)).given).toBe(join(root, "fineweb-edu"));
  });
});
