import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { whileWritersWait } from "../testing/moment";
import { addPerson, addSignedIn, callHttp, PASSWORD, type SignedIn, signIn } from "../testing/people";

let control: TestControlPlane;
beforeAll(async () => {
  control = await testControlPlane({ HELM_AUTH_RATE_LIMIT: "false" });
  await addPerson(control, "admin");
});
afterAll(() => control.stop());

const NEXT = "another long password";
const OTHER = "and one more long password";
const bearer = (person: SignedIn) => ({ authorization: `Bearer ${person.bearer}` });
const say = (path: string, input: unknown, headers: Record<string, string> = {}) =>
  callHttp(control, path, { type: "mutation", input, headers }).then(({ status }) => status);
const reset = (id: string) => control.as("admin").person.resetSignIn({ id });
const mayEnter = async (email: string, password: string) =>
  (await signIn(control, email, password)).status === 200;

/** The first is held just before it has taken effect, and the second comes meanwhile. */
async function meet(
  table: "Account" | "PersonalToken" | "Session",
  first: () => Promise<unknown>,
  second: () => Promise<unknown>,
) {
  let calls: Promise<unknown>[] = [];
  await whileWritersWait(control, table, async (waiting) => {
    calls = [first()];
    await waiting(1);
    calls.push(second());
    await waiting(2);
  });
  return Promise.all(calls);
}

describe("while an administrator resets how somebody signs in", () => {
  it("a link that is accepted at that moment leaves no password behind", async () => {
    const made = await control
      .as("admin")
      .person.create({ email: "a@example.com", name: "a", role: "viewer" });
    const token = made.link.split("#")[1];
    const [status] = await meet(
      "Account",
      () => say("invitation.accept", { token, password: PASSWORD }),
      () => reset(made.person.id),
    );
    expect(status).toBe(200);
    expect(await mayEnter("a@example.com", PASSWORD)).toBe(false);
  });

  it("a password that is changed at that moment is gone as well", async () => {
    const person = await addSignedIn(control, "viewer");
    await meet(
      "Account",
      () => say("account.changePassword", { current: PASSWORD, next: NEXT }, bearer(person)),
      () => reset(person.id),
    );
    expect(await mayEnter(person.email, NEXT)).toBe(false);
  });

  it("a personal token that is made at that moment opens nothing afterwards", async () => {
    const person = await addSignedIn(control, "viewer");
    await meet(
      "PersonalToken",
      () => say("token.create", { name: "mine", days: 7 }, bearer(person)),
      () => reset(person.id),
    );
    const live = { referenceId: person.id, revokedAt: null };
    expect(await control.db.personalToken.count({ where: live })).toBe(0);
  });

  it("whoever comes in with the old password at that moment is out again", async () => {
    const person = await addPerson(control, "viewer");
    let entering: Promise<{ status: number }> | undefined;
    await whileWritersWait(control, "Session", async (waiting, tx) => {
      entering = signIn(control, person.email);
      // The password was right, and the session is about to be written: what resetting does comes between.
      await waiting(1);
      await tx.account.deleteMany({ where: { userId: person.id } });
    });
    expect((await entering)?.status).toBe(401);
    expect(await control.db.session.count({ where: { userId: person.id } })).toBe(0);
  });
});

it("of two who change one password at one moment, the later one is told that it is another now", async () => {
  const person = await addSignedIn(control, "viewer");
  const change = (next: string) => say("account.changePassword", { current: PASSWORD, next }, bearer(person));
  expect(
    await meet(
      "Account",
      () => change(NEXT),
      () => change(OTHER),
    ),
  ).toEqual([200, 400]);
  expect(await mayEnter(person.email, NEXT)).toBe(true);
});

it("removing a person whose link is accepted at that moment lets both through, one after the other", async () => {
  const made = await control.as("admin").person.create({ email: "b@example.com", name: "b", role: "viewer" });
  const { id, revision } = made.person;
  const token = made.link.split("#")[1];
  const [status] = await meet(
    "Account",
    () => say("invitation.accept", { token, password: PASSWORD }),
    () => control.as("admin").person.remove({ id, revision }),
  );
  expect(status).toBe(200);
  expect(await control.db.account.count({ where: { userId: id } })).toBe(0);
});

it("makes no token for who is removed at that moment", async () => {
  const person = await addSignedIn(control, "viewer");
  let calls: Promise<unknown>[] = [];
  await whileWritersWait(control, "AuditEntry", async (waiting) => {
    calls = [control.as("admin").person.remove({ id: person.id, revision: 1 })];
    await waiting(1);
    calls.push(say("token.create", { name: "late", days: 7 }, bearer(person)));
    await waiting(2);
  });
  expect(await Promise.all(calls)).toMatchObject([{ id: person.id }, 401]);
});
