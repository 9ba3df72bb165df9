import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDb, type Db, migrate } from "@helm/db";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@helm/db/embedded";
import { MIGRATIONS } from "@helm/db/testing";
import type { Socket } from "socket.io-client";
import { afterAll, beforeAll, expect, it } from "vitest";
import "../testing/control-plane";
import { addPerson, signIn } from "../testing/people";
import { type ControlPlaneProcess, controlPlaneProcess } from "../testing/process";
import { ask, connect, socketTo } from "../testing/sockets";
import { until } from "../testing/until";

let folder: string;
let server: EmbeddedPostgres;
let db: Db;
let a: ControlPlaneProcess;
let b: ControlPlaneProcess;
let token: string;
let page: Socket;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "helm-restart-"));
  server = await startEmbeddedPostgres({ stateDir: join(folder, "postgres"), port: "free" });
  await migrate(server.url, MIGRATIONS);
  db = createDb(server.url, { poolSize: 2 });
  const start = () => controlPlaneProcess({ databaseUrl: server.url, stateDir: join(folder, "state") });
  [a, b] = await Promise.all([start(), start()]);
  await Promise.all([a.ready(), b.ready()]);
  const admin = await addPerson({ db } as Parameters<typeof addPerson>[0], "admin");
  token = (await signIn(a, admin.email)).bearer;
  page = socketTo(b.url, "/console", { token });
  expect(await connect(page)).toBe("connected");
}, 400_000);

afterAll(async () => {
  page?.disconnect();
  await Promise.all([a?.stop(), b?.stop()]);
  await db?.$disconnect();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A change through A, heard on a page at B. */
async function hintsArrive(name: string): Promise<boolean> {
  const heard = new Promise<boolean>((resolve) => {
    const onChanged = ({ topic }: { topic: string }) => {
      if (topic !== "tenants") return;
      page.off("changed", onChanged);
      resolve(true);
    };
    page.on("changed", onChanged);
    setTimeout(() => resolve(false), 10_000).unref();
  });
  await until(
    () =>
      a
        .caller(token)
        .tenant.create({ name })
        .then(
          () => true,
          (error: Error & { code: string }) => error.code === "CONFLICT",
        ),
    (done) => done,
  );
  return heard;
}

it("three restarts of the database end neither control plane, and hints resume each time", async () => {
  expect(await hintsArrive("before")).toBe(true);
  for (let round = 1; round <= 3; round += 1) {
    const { port } = server;
    await server.stop();
    const away = await fetch(`${a.url}/api/health`);
    expect(away.status).toBe(503);
    const resynced: string[] = [];
    page.on("changed", ({ topic }: { topic: string }) => resynced.push(topic));
    server = await startEmbeddedPostgres({ stateDir: join(folder, "postgres"), port });
    // Whatever was missed meanwhile: the page is told to ask for everything again.
    await until(
      () => resynced,
      (topics) => topics.includes("calibrations") && topics.includes("tenants"),
    );
    expect(resynced).toContain("calibrations");
    page.removeAllListeners("changed");
    await Promise.all([a.ready(), b.ready()]);
    expect(await hintsArrive(`round-${round}`)).toBe(true);
    expect(page.connected).toBe(true);
    expect(await ask(page, "follow", { calibration: "00000000-0000-7000-8000-000000000000" })).toMatchObject({
      code: "NOT_FOUND",
    });
  }
  // The connections between control planes are two each, not two more for every restart.
  const rows = await db.$queryRaw<{ n: number }[]>`
    SELECT count(*)::int AS n FROM pg_stat_activity
    WHERE application_name IN ('helm listener', 'helm speaker') AND datname = current_database()`;
  expect(rows[0]?.n).toBe(4);
});
