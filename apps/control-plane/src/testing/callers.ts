import type { Role } from "@helm/contracts";
import { NODE_TOKEN, ORIGIN, SETUP_TOKEN, type TestControlPlane } from "./control-plane";
import { addPerson, addSignedIn, addToken, signIn } from "./people";
import { joinWorker } from "./worker";

export interface Caller {
  /** In words, for the test's report. */
  name: string;
  headers: Record<string, string>;
  /** The role this caller has; null where it is nobody. */
  role: Role | null;
  by: "cookie" | "session" | "token" | null;
  /** The kind of host whose credential it is. */
  host?: "worker" | "node";
}

const ROLES = ["viewer", "operator", "admin"] as const;

/** Everything that anyone could show at the door, whether it opens or not. */
export async function everyCaller(control: TestControlPlane): Promise<Caller[]> {
  const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
  const cookie = (value: string) => ({ cookie: value, origin: ORIGIN });
  const callers: Caller[] = [{ name: "nobody", headers: {}, role: null, by: null }];
  for (const role of ROLES) {
    const held = await addSignedIn(control, role);
    callers.push(
      { name: `${role} by cookie`, headers: cookie(held.cookie), role, by: "cookie" },
      { name: `${role} by session token`, headers: bearer(held.bearer), role, by: "session" },
      { name: `${role} by personal token`, headers: bearer(held.token), role, by: "token" },
    );
  }
  const refuse = (name: string, headers: Record<string, string>) =>
    callers.push({ name, headers, role: null, by: null });

  const admin = await addPerson(control, "admin");
  const past = new Date(Date.now() - 1_000);
  refuse("an expired personal token", bearer((await addToken(control, admin.id, { expiresAt: past })).token));
  refuse("a revoked personal token", bearer((await addToken(control, admin.id, { revokedAt: past })).token));
  refuse("a personal token of nobody", bearer(`lifeboat_${"x".repeat(43)}`));
  const expired = await signIn(control, admin.email);
  await control.db.session.updateMany({ where: { userId: admin.id }, data: { expiresAt: past } });
  refuse("an expired session's cookie", cookie(expired.cookie));
  const ended = await signIn(control, admin.email);
  await control.request("POST", "/api/auth/sign-out", { json: {}, headers: cookie(ended.cookie) });
  refuse("an ended session's cookie", cookie(ended.cookie));
  refuse("an ended session's token", bearer(ended.bearer));
  const live = await signIn(control, admin.email);
  const raw = await control.db.session.findFirstOrThrow({
    where: { userId: admin.id, expiresAt: { gt: new Date() } },
  });
  refuse("a session's token as the database has it, unsigned", bearer(raw.token));
  refuse("a live session's cookie beside a wrong token", { ...cookie(live.cookie), ...bearer("wrong") });

  const disabled = await addSignedIn(control, "admin");
  await control.db.user.update({ where: { id: disabled.id }, data: { disabledAt: new Date() } });
  refuse("a disabled person's cookie", cookie(disabled.cookie));
  refuse("a disabled person's session token", bearer(disabled.bearer));
  refuse("a disabled person's personal token", bearer(disabled.token));

  const tenant = await control.as("admin").tenant.create({ name: `of-callers-${Date.now()}` });
  const { key } = await control.as("admin").key.create({ tenantId: tenant.id, name: "ci" });
  refuse("a tenant's API key", bearer(key));
  refuse("the setup token", bearer(SETUP_TOKEN));
  const unused = await control.as("admin").host.createJoinToken({ kind: "worker" });
  refuse("a join token", bearer(unused.token));

  const worker = await joinWorker(control);
  callers.push({
    name: "a worker",
    headers: bearer(worker.credential),
    role: null,
    by: null,
    host: "worker",
  });
  const node = await control.request("POST", "/api/hosts/join", {
    json: {
      kind: "node",
      join_token: NODE_TOKEN,
      name: "n1",
      version: "0.1.0",
      device: "cpu",
      hardware: "none",
      devices: [{ vendor: "none", name: "no accelerator", capability: null }],
      engine: "reference",
      url: "http://127.0.0.1:8000",
    },
  });
  callers.push({ name: "a node", headers: bearer(node.json.credential), role: null, by: null, host: "node" });
  const joined = await control.as("admin").host.createJoinToken({ kind: "worker" });
  const gone = await joinWorker(control, joined.token);
  await control.as("admin").host.revoke({ id: gone.id });
  refuse("a revoked worker", bearer(gone.credential));
  return callers;
}
