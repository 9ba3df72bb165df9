import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDb, type Db, migrate } from "@helm/db";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@helm/db/embedded";
import { MIGRATIONS } from "@helm/db/testing";
import { canMount, fillDisk, makeRoom, mountSmallDisk, unmount } from "@helm/host/testing-disk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ORIGIN } from "../testing/control-plane";
import { addPerson, signIn } from "../testing/people";
import { type ControlPlaneProcess, controlPlaneProcess } from "../testing/process";
import { until } from "../testing/until";

/** Pages of a table that were there already take this many at most; then it has to grow. */
const MOST_CHANGES = 400;

// A disk that can be filled has to be mounted first, which root alone may do.
describe.runIf(canMount())("while the database's disk is full", () => {
  let folder: string;
  let disk: string | undefined;
  let server: EmbeddedPostgres | undefined;
  let plane: ControlPlaneProcess | undefined;
  let db: Db | undefined;
  let token: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "helm-full-"));
    disk = mountSmallDisk(join(folder, "disk"), "256m");
    server = await startEmbeddedPostgres({ stateDir: join(disk, "postgres"), port: "free" });
    await migrate(server.url, MIGRATIONS);
    db = createDb(server.url, { poolSize: 2 });
    plane = await controlPlaneProcess({ databaseUrl: server.url, stateDir: join(folder, "state") });
    await plane.ready();
    const admin = await addPerson({ db } as Parameters<typeof addPerson>[0], "admin");
    token = (await signIn(plane, admin.email)).bearer;
  }, 400_000);
  afterAll(async () => {
    if (disk) makeRoom(disk);
    await plane?.stop();
    await db?.$disconnect();
    await server?.stop();
    if (disk) unmount(disk);
    await rm(folder, { recursive: true, force: true });
  });

  const ask = async (method: "GET" | "POST", path: string, json?: unknown) => {
    const options = { bearer: token, headers: { origin: ORIGIN }, ...(json ? { json: { json } } : {}) };
    const answer = await (plane as ControlPlaneProcess).request(method, `/trpc/${path}`, options);
    const helm = answer.json?.error?.json?.data?.helm;
    return { status: answer.status, code: helm?.code ?? null, said: helm?.userMessage ?? "", answer };
  };
  const names = async () => {
    const { status, answer } = await ask("GET", "tenant.list");
    expect(status).toBe(200);
    return (answer.json.result.data.json as { name: string }[]).map(({ name }) => name);
  };

  it("a change is refused by name, what was acknowledged stays, and with room all goes on by itself", async () => {
    const acknowledged: string[] = [];
    const refused: { name: string; code: string | null; said: string }[] = [];
    const create = async (name: string) => {
      const { status, code, said } = await ask("POST", "tenant.create", { name });
      if (status === 200) acknowledged.push(name);
      else refused.push({ name, code, said });
      return status;
    };
    for (let i = 0; i < 3; i += 1) expect(await create(`before-${i}`)).toBe(200);
    fillDisk(disk as string);
    for (let i = 0; i < MOST_CHANGES && refused.length < 5; i += 1) await create(`full-${i}`);
    expect(refused).toHaveLength(5);
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(["STORAGE_FULL"]));
    expect(refused[0]?.said).toMatch(/no room left .* nothing was changed\. Make room/);
    // Reading goes on, and shows what was acknowledged and nothing else.
    expect((await names()).sort()).toEqual([...acknowledged].sort());
    makeRoom(disk as string);
    await until(
      () => create(`after-${refused.length}`),
      (status) => status === 200,
    );
    expect((await names()).sort()).toEqual([...acknowledged].sort());
    const written = await (db as Db).auditEntry.count({ where: { verb: "tenant.create" } });
    expect(written).toBe(acknowledged.length);
  }, 300_000);
});
