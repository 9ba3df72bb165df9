import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { addPerson, addToken, PASSWORD } from "../testing/people";

const BIN = fileURLToPath(new URL("../../../../apps/cli/bin/lifeboat.mjs", import.meta.url));

let control: TestControlPlane;
let home: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "helm-people-"));
  control = await testControlPlane({ HELM_AUTH_RATE_LIMIT: "false" });
});
afterAll(async () => {
  await control.stop();
  await rm(home, { recursive: true });
});

interface Given {
  stdin?: string;
  token?: string;
}

async function lifeboat(words: string, { stdin = "", token }: Given = {}) {
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    XDG_CONFIG_HOME: home,
    ...(token === undefined ? {} : { LIFEBOAT_URL: control.url, LIFEBOAT_TOKEN: token }),
  };
  return new Promise<{ code: number | null; out: Record<string, unknown>; stderr: string }>((resolve) => {
    const args = [BIN, ...words.split(" "), "--json"];
    const child = execFile(process.execPath, args, { env }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, out: JSON.parse(stdout.trim().split("\n").at(-1) || "{}"), stderr }),
    );
    child.stdin?.end(stdin);
  });
}

it("people and tokens from a terminal: by password, by a token that is piped in, and by LIFEBOAT_TOKEN", async () => {
  const admin = await addPerson(control, "admin");
  const login = await lifeboat(`login ${control.url} --email ${admin.email} --password-stdin`, {
    stdin: `${PASSWORD}\n`,
  });
  expect([login.code, login.stderr]).toEqual([0, ""]);
  expect((await lifeboat("whoami")).out).toMatchObject({ email: admin.email, role: "admin", by: "session" });
  const made = await lifeboat("helm token create laptop --days 3");
  const { token } = made.out as { token: string };
  expect(token).toMatch(/^lifeboat_/);
  const created = await lifeboat("helm person create olu@example.com --name Olu --role operator");
  expect((created.out as { link: string }).link).toMatch(/\/welcome#invite_/);
  expect((await lifeboat("logout")).code).toBe(0);
  expect(await control.db.session.count({ where: { userId: admin.id } })).toBe(0);

  const shown = await lifeboat(`login ${control.url} --token ${token}`);
  expect([shown.code, shown.stderr]).toEqual([2, expect.stringMatching(/can be read by others/)]);
  const wrong = await lifeboat(`login ${control.url} --token -`, { stdin: `${token}x\n` });
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringMatching(/unknown, expired or revoked/)]);
  const piped = await lifeboat(`login ${control.url} --token -`, { stdin: `${token}\n` });
  expect([piped.code, piped.stderr]).toEqual([0, ""]);
  const file = join(home, "lifeboat", "session.json");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readFile(file, "utf8")).toContain(token);
  expect((await lifeboat("whoami")).out).toMatchObject({ by: "token", token: { name: "laptop" } });
  for (const words of ["create eve@example.com --name Eve --role viewer", "reset-sign-in olu@example.com"]) {
    const closed = await lifeboat(`helm person ${words}`);
    expect([closed.code, closed.stderr]).toEqual([1, expect.stringMatching(/lifeboat login URL/)]);
  }
  expect((await lifeboat("helm person set-role olu@example.com viewer")).code).toBe(0);
  expect((await lifeboat("helm person disable olu@example.com")).code).toBe(0);
  const listed = (await lifeboat("helm person list")).out as unknown as { people: { email: string }[] };
  expect(listed.people.find((one) => one.email === "olu@example.com")).toMatchObject({
    role: "viewer",
    state: "DISABLED",
  });
  const more = await lifeboat("helm token create more");
  expect([more.code, more.stderr]).toEqual([1, expect.stringMatching(/personal token cannot/)]);
  expect((await lifeboat("helm person remove olu@example.com")).code).toBe(0);
  expect((await lifeboat("helm token revoke laptop")).code).toBe(0);
  const after = await lifeboat("whoami");
  expect([after.code, after.stderr]).toEqual([1, expect.stringMatching(/expired or revoked/)]);

  const viewer = await addPerson(control, "viewer");
  const held = await addToken(control, viewer.id);
  const environment = await lifeboat("helm person list", { token: held.token });
  expect(environment.code).toBe(0);
  const refused = await lifeboat("helm person remove olu@example.com", { token: held.token });
  expect(refused.code).toBe(1);
});
