import { execFile } from "node:child_process";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { CHECKOUT, lifeboat, temporaryFolder } from "../testing";

// Each run is a whole process, and Python behind it.
vi.setConfig({ testTimeout: 120_000 });

async function authServer(ended: string[] = [], signOutStatus = 200): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (request.url === "/api/auth/sign-out") {
        ended.push(`${request.method} ${request.headers.authorization}`);
        response.writeHead(signOutStatus).end("{}");
        return;
      }
      const { email, password } = JSON.parse(Buffer.concat(chunks).toString() || "{}");
      const right =
        request.url === "/api/auth/sign-in/email" && email === "a@b.c" && password === "correct horse";
      response.writeHead(right ? 200 : 401, right ? { "set-auth-token": "session-token" } : {});
      response.end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function signIn(
  url: string,
  password: string,
  config: string,
): Promise<{ code: number | null; stderr: string }> {
  const bin = join(CHECKOUT, "apps", "cli", "bin", "lifeboat.mjs");
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, XDG_CONFIG_HOME: config };
  return new Promise((resolve) => {
    const args = [bin, "login", url, "--email", "a@b.c", "--password-stdin"];
    const child = execFile(process.execPath, args, { env }, (_error, _stdout, stderr) =>
      resolve({ code: child.exitCode, stderr }),
    );
    child.stdin?.end(`${password}\n`);
  });
}

it("keeps the session's token for its owner alone", async () => {
  const url = await authServer();
  const config = await temporaryFolder();
  expect((await signIn(url, "correct horse", config)).code).toBe(0);
  const file = join(config, "lifeboat", "session.json");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ url, token: "session-token", email: "a@b.c" });
  expect((await signIn(url, "wrong", config)).stderr).toMatch(/E-mail or password is wrong/);
});

it("ends the session on the server, too, and says so where it could not", async () => {
  const config = await temporaryFolder();
  const env = { XDG_CONFIG_HOME: config };
  const file = join(config, "lifeboat", "session.json");
  for (const [status, code] of [
    [200, 0],
    [401, 0],
    [503, 1],
  ] as const) {
    const ended: string[] = [];
    const url = await authServer(ended, status);
    expect((await signIn(url, "correct horse", config)).code).toBe(0);
    const ran = await lifeboat(["logout", "--json"], env);
    expect(ended).toEqual(["POST Bearer session-token"]);
    expect(ran.code).toBe(code);
    if (code === 1) expect(ran.lines.at(-1)).toMatchObject({ type: "failed", code: "SIGN_OUT_INCOMPLETE" });
    await expect(stat(file)).rejects.toThrow();
  }
  expect((await lifeboat(["logout"], env)).code).toBe(0);
  await mkdir(join(config, "lifeboat"), { recursive: true });
  const gone = { url: "http://127.0.0.1:9", token: "t", email: "a@b.c" };
  await writeFile(file, JSON.stringify(gone));
  expect((await lifeboat(["logout"], env)).stderr).toMatch(/cannot be reached/);
  await expect(stat(file)).rejects.toThrow();
});

it("tells a missing server, a missing sign-in and an absent server apart, each with the next step", async () => {
  const none = await lifeboat(["helm", "pair", "list"]);
  expect(none.code).toBe(2);
  expect(none.stderr).toMatch(/lifeboat login/);
  const signedOut = await lifeboat(["helm", "pair", "list"], { LIFEBOAT_URL: "http://127.0.0.1:9" });
  expect(signedOut.code).toBe(1);
  expect(signedOut.stderr).toMatch(/not signed in/);
  const away = await lifeboat(["helm", "pair", "list", "--json"], {
    LIFEBOAT_URL: "http://127.0.0.1:9",
    LIFEBOAT_TOKEN: "t",
  });
  expect(away.code).toBe(1);
  expect(away.lines.at(-1)).toMatchObject({ type: "failed", code: "SERVER_UNREACHABLE" });
});

it("refuses --gate with a server before it calls it", async () => {
  const args = ["helm", "calibrate", "--source-model", "pilot", "--target-model", "target", "--gate", "0.9"];
  const ran = await lifeboat(args, { LIFEBOAT_URL: "http://127.0.0.1:9", LIFEBOAT_TOKEN: "t" });
  expect(ran.code).toBe(2);
  expect(ran.stderr).toMatch(/--gate holds for a local run/);
});

it("names a sign-in file that makes no sense", async () => {
  const config = await temporaryFolder();
  await mkdir(join(config, "lifeboat"));
  await writeFile(join(config, "lifeboat", "session.json"), "{}");
  const ran = await lifeboat(["helm", "pair", "list"], { XDG_CONFIG_HOME: config });
  expect(ran.stderr).toMatch(/session\.json holds no sign-in/);
});
