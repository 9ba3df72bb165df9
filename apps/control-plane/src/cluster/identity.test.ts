import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { SETUP_TOKEN, type TestControlPlane, testControlPlane } from "../testing/control-plane";

let control: TestControlPlane;
let elsewhere: string;

beforeAll(async () => {
  control = await testControlPlane();
  elsewhere = await mkdtemp(join(tmpdir(), "helm-elsewhere-"));
});
afterAll(async () => {
  await control.stop();
  await rm(elsewhere, { recursive: true, force: true });
});

const signingKeyFile = () => join(elsewhere, "signing-key.pem");

it("refuses a second control plane without the first one's signing key, and makes none", async () => {
  await expect(control.restart({ signingKeyFile: signingKeyFile() })).rejects.toThrow(
    /no signing key at .*HELM_SIGNING_KEY_FILE/s,
  );
  await expect(control.restart({ signingKeyFile: signingKeyFile() })).rejects.toThrow(/no signing key/);
});

it("refuses another auth secret, and does not keep it in the clear", async () => {
  await expect(control.restart({ authSecret: "quite another secret, long enough too" })).rejects.toThrow(
    /HELM_AUTH_SECRET is not the one/,
  );
  const row = await control.db.fleetIdentity.findUniqueOrThrow({ where: { id: 1 } });
  expect(JSON.stringify(row)).not.toContain(control.services.config.authSecret);
});

it("takes neither while another one runs, and both once all are stopped and it is told to", async () => {
  const other = { signingKeyFile: signingKeyFile(), authSecret: "quite another secret, long enough too" };
  await expect(control.restart({ ...other, replaceKeys: true })).rejects.toThrow(/Stop all of them first/);
  const lonely = await testControlPlane();
  await lonely.stopServer();
  const replaced = await lonely.restart({ ...other, replaceKeys: true });
  expect(await lonely.db.auditEntry.count({ where: { verb: "fleet.replaceKeys" } })).toBe(1);
  await replaced.stop();
  await expect(lonely.restart()).rejects.toThrow(/is not the one that this database's nodes obey/);
  await lonely.dropDatabase();
});

it("takes the setup token of any of them until there is an administrator", async () => {
  const second = await control.restart({ setupToken: undefined });
  const create = (token: string, email: string) =>
    control
      .as("nobody")
      .setup.createAdministrator({ token, email, name: "First", password: "long enough a password" });
  await expect(create("neither of the two tokens", "a@example.com")).rejects.toMatchObject({
    code: "UNAUTHORIZED",
  });
  expect(second.setupToken).not.toBe(SETUP_TOKEN);
  await create(second.setupToken, "a@example.com");
  await expect(create(SETUP_TOKEN, "b@example.com")).rejects.toMatchObject({ code: "FORBIDDEN" });
  expect(await control.db.setupToken.count()).toBe(0);
  await second.stop();
});
